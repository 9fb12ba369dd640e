import { expect, it } from 'vitest';
import { GI, nodeOf, planOf, podOf, podsOf, typeOf } from '../../builders/scheduling.ts';

const GPU = 'example.com/gpu';

it('pods without a device leave room on existing nodes for those that ask for one', () => {
  const amounts = { cpu: 48_000, memory: 180 * GI, pods: 110, [GPU]: 4 };
  const nodes = Array.from({ length: 10 }, (_, at) =>
    nodeOf(`gpu-${at}`, 48, 180, { capacity: amounts, allocatable: amounts }),
  );
  const large = podsOf(40, 'large', { cpu: 11_500 });
  const small = podsOf(40, 'small', { requests: { cpu: 4000, memory: GI, [GPU]: 1, pods: 1 } });
  const types = [
    typeOf('c.large', 16, 64, 0.7),
    typeOf('g.large', 48, 180, 3.9, { capacity: amounts }),
  ];
  // Largest first, four of `large` fill a node, and its devices are of no use to anybody.
  const plan = planOf({ types, nodes, pods: [...large, ...small] });
  expect(plan.unplaced.size).toBe(0);
  const launched = plan.newNodeClaims.map(({ chosen }) => chosen.type);
  expect(launched).toEqual(Array.from({ length: 20 }, () => 'c.large'));
});

it('a device of which every node has plenty changes nothing', () => {
  const FUSE = 'example.com/fuse';
  const priceWith = (fuse: Record<string, number>): number => {
    const type = (name: string, cpu: number, memoryGi: number, price: number, gpu = 0) =>
      typeOf(name, cpu, memoryGi, price, {
        capacity: {
          ...{ cpu: cpu * 1000, memory: memoryGi * GI, pods: 110, [FUSE]: 1000 },
          ...(gpu === 0 ? {} : { [GPU]: gpu }),
        },
      });
    const types = [
      ...[type('c.large', 16, 32, 0.6), type('m.large', 16, 64, 0.75), type('r.large', 8, 64, 0.5)],
      ...[type('g.small', 8, 32, 1.2, 1), type('g.large', 48, 180, 3.9, 4)],
      type('g.metal', 96, 360, 9, 8),
    ];
    const pods = Array.from({ length: 150 }, (_, at) => {
      const gpu = at % 3 === 0 ? { [GPU]: 1 + (at % 2) } : {};
      const [cpu, memory] = [500 + ((at * 37) % 11) * 700, (1 + ((at * 53) % 13)) * GI];
      return podOf(`p-${at}`, { requests: { cpu, memory, pods: 1, ...gpu, ...fuse } });
    });
    const plan = planOf({ types, pods });
    expect(plan.unplaced.size).toBe(0);
    return plan.pricePerHour;
  };
  expect(priceWith({ [FUSE]: 1 })).toBeCloseTo(priceWith({}), 9);
});
