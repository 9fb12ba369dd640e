import { describe, expect, it } from 'vitest';
import { mixedSpecs, podsOf } from '../../../bench/cases/pods.ts';
import { readTrace, sampled, traceSpec } from '../../../bench/cases/trace.ts';
import { generatedTypes } from '../../../bench/cases/types.ts';
import { decodeCase, type SchedulingCase } from '../../../shared/api/case/decode.ts';

function decoded(pods: readonly object[]): SchedulingCase {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  const pool = {
    metadata: { name: 'default' },
    spec: { template: { spec: { nodeClassRef, requirements: [] } } },
  };
  const found = decodeCase({ instanceTypes: generatedTypes(), nodePools: [pool], pods });
  if (!found.ok) throw new Error(JSON.stringify(found.issues));
  return found.value;
}

describe.each(['generic', 'deployments', 'diverse', 'preferences'] as const)('%s', (mix) => {
  it('are so many pods, which a case may hold, and the same each time', () => {
    const specs = mixedSpecs(mix, 103);
    const { snapshot, rejected } = decoded(podsOf(specs));
    expect(rejected).toEqual({});
    expect(snapshot.pods).toHaveLength(103);
    expect(new Set(snapshot.pods.map(({ uid }) => uid)).size).toBe(103);
    expect(mixedSpecs(mix, 103)).toEqual(specs);
  });
});

describe('pods that are made by chance', () => {
  it('are of five kinds in diverse, a fifth each', () => {
    const kinds = mixedSpecs('diverse', 50).map(({ spec }) => JSON.stringify(spec ?? {}));
    const count = (text: string) => kinds.filter((each) => each.includes(text)).length;
    expect(kinds.filter((each) => each === '{}')).toHaveLength(10);
    expect(count('DoNotSchedule')).toBe(20);
    expect(count('podAffinity')).toBe(10);
    expect(count('podAntiAffinity')).toBe(10);
  });

  it('are groups of 5 to 50 equal ones in deployments, but for the last', () => {
    const sizes = [...Map.groupBy(mixedSpecs('deployments', 1_000), (each) => each).values()].map(
      ({ length }) => length,
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(5);
  });
});

describe('instance types that are made', () => {
  it('have names of their own, and a spot price below the one on demand in each zone', () => {
    const { snapshot } = decoded([]);
    const types = snapshot.instanceTypes.get('default') ?? [];
    expect(new Set(types.map(({ name }) => name)).size).toBe(910);
    for (const { name, offerings } of types) {
      const of = (type: string) => offerings.filter(({ capacityType }) => capacityType === type);
      const [onDemand] = of('on-demand');
      expect(of('spot'), name).toHaveLength(3);
      for (const { price } of of('spot')) {
        expect(price / (onDemand?.price ?? 0), name).toBeGreaterThan(0.27);
        expect(price / (onDemand?.price ?? 0), name).toBeLessThan(0.69);
      }
    }
  });

  it.each([
    ['g5.large', undefined],
    ['g5.xlarge', 1],
    ['g5.4xlarge', 1],
    ['g5.24xlarge', 8],
    ['p4d.24xlarge', 8],
    ['p4d.16xlarge', undefined],
    ['m5.24xlarge', undefined],
  ])('%s has %s GPUs', (name, gpus) => {
    const { snapshot } = decoded([]);
    const type = snapshot.instanceTypes.get('default')?.find((each) => each.name === name);
    expect(type?.capacity['nvidia.com/gpu']).toBe(gpus);
  });
});

describe('a trace', () => {
  const HEADER = 'name,cpu_milli,memory_mib,num_gpu,qos';

  it('is read by the names of its columns, whatever ends its lines', () => {
    const text = 'num_gpu,name,memory_mib,cpu_milli\r\n2,a,1024,500\r\n0,b,16,4000\r\n';
    expect(readTrace(text)).toEqual([
      { cpuMilli: 500, memoryMib: 1024, gpus: 2 },
      { cpuMilli: 4000, memoryMib: 16, gpus: 0 },
    ]);
  });

  it.each([
    ['name,cpu_milli,qos\na,1,LS', 'no column memory_mib, num_gpu in: name,cpu_milli,qos'],
    [`${HEADER}\na,1,2,0,LS\nb,1,,0,LS`, 'line 3: memory_mib must be a whole number: b,1,,0,LS'],
    [`${HEADER}\na,1.5,2,0,LS`, 'line 2: cpu_milli must be a whole number: a,1.5,2,0,LS'],
    [`${HEADER}\na,1,2`, 'line 2: num_gpu must be a whole number: a,1,2'],
  ])('that is none is refused: %j', (text, message) => {
    expect(() => readTrace(text)).toThrow(message);
  });

  it('gives a sample of different pods, all of them, or more than there are', () => {
    const all = Array.from({ length: 20 }, (_, index) => index);
    const few = sampled(all, 7);
    expect(new Set(few).size).toBe(7);
    expect(sampled(all, 7)).toEqual(few);
    expect([...sampled(all, 20)].sort((a, b) => a - b)).toEqual(all);
    expect(sampled(all, 50)).toHaveLength(50);
    expect(sampled([], 5)).toEqual([]);
  });

  it('asks for GPUs in limits, too, or for none', () => {
    const pod = { cpuMilli: 500, memoryMib: 1024, gpus: 2 };
    const containers = (kind: 'cpu' | 'gpu') =>
      JSON.stringify(podsOf([traceSpec(pod, kind)])).replaceAll('"', '');
    expect(containers('gpu')).toContain('limits:{nvidia.com/gpu:2}');
    expect(containers('cpu')).toContain('requests:{cpu:500m,memory:1024Mi}');
    expect(containers('cpu')).not.toContain('nvidia');
  });
});
