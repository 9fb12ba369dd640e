import { describe, expect, it } from 'vitest';
import { allocatable, totalOverhead } from '../../../shared/core/instance-types/allocatable.ts';
import { instanceType, offering } from '../../builders/overlays.ts';

const OVERHEAD = {
  kubeReserved: { cpu: 100, memory: 10 },
  systemReserved: { cpu: 50 },
  evictionThreshold: { memory: 5 },
};
const TYPE = {
  ...instanceType('x', []),
  capacity: { cpu: 4000, memory: 1000, pods: 58, 'hugepages-2Mi': 0 },
  overhead: OVERHEAD,
};
const plain = offering('a', 'spot', 1);

describe('what pods may use of a node', () => {
  it('is what it has less what the system keeps', () => {
    expect(totalOverhead(OVERHEAD)).toEqual({ cpu: 150, memory: 15 });
    expect(allocatable(TYPE, plain)).toEqual({
      cpu: 3850,
      memory: 985,
      pods: 58,
      'hugepages-2Mi': 0,
    });
  });

  it('is more or less by what the offering says', () => {
    const offered = {
      capacityOverride: { memory: 100, gpu: 1 },
      overheadOverride: { ...OVERHEAD, kubeReserved: { cpu: 1000 }, evictionThreshold: {} },
    };
    expect(allocatable(TYPE, { ...plain, ...offered })).toEqual({
      cpu: 2800,
      memory: 1085,
      pods: 58,
      'hugepages-2Mi': 0,
      gpu: 1,
    });
  });

  it('is memory without huge pages, which are carved out of it', () => {
    const paged = (amount: number) => {
      const capacity = { ...TYPE.capacity, 'hugepages-2Mi': amount, 'hugepages-1Gi': 100 };
      return allocatable({ ...TYPE, capacity }, plain)['memory'];
    };
    expect(paged(200)).toBe(685);
    expect(paged(5000)).toBe(0);
  });
});
