import { expect, it } from 'vitest';
import { InvariantViolation } from '../../../shared/core/invariant.ts';
import { missing } from '../../../shared/core/missing.ts';
import { PodAssigner } from '../../../shared/core/scheduling/plan/claims.ts';
import type { PodClass } from '../../../shared/core/scheduling/problem/problem.ts';
import { fits } from '../../../shared/core/scheduling/search/search-context.ts';
import { GI, planOf, podOf, podsOf, typeOf } from '../../builders/scheduling.ts';

it('what must be in a list or map is there, or the decision ends', () => {
  const amounts = Float64Array.of(0, 7);
  expect(amounts[0] ?? missing(0)).toBe(0);
  expect(() => amounts[2] ?? missing(2)).toThrow(InvariantViolation);
  expect(() => new Map<string, number>().get('cpu') ?? missing('cpu')).toThrow('cpu is not');
  // A node whose resources are counted by another list than the pod's is full of zeros.
  const short = new Float64Array(1);
  expect(() => fits(Float64Array.of(1, 1), short, Float64Array.of(2, 2))).toThrow('1 is not');
});

it('no plan places a pod twice', () => {
  const podClass = { pods: [podOf('web')] } as unknown as PodClass;
  const assigner = new PodAssigner();
  expect(assigner.assign(new Map([[podClass, 1]]))).toEqual(['default/web']);
  expect(() => assigner.assign(new Map([[podClass, 1]]))).toThrow('places each pod once');
});

it('pods that fill a node to the byte fit on it, and one byte more does not', () => {
  const types = [
    ...[1, 2, 4, 8, 16, 32, 48, 96].map((cpu) => typeOf(`m.${cpu}`, cpu, cpu * 4, cpu * 0.044)),
    ...[1, 2, 4, 8, 16, 32, 48, 96].map((cpu) => typeOf(`r.${cpu}`, cpu, cpu * 8, cpu * 0.068)),
  ];
  const odd = { cpu: 2900, memory: Math.round(2.9 * 6 * GI), pods: 1 };
  const even = { cpu: 1500, memory: 9 * GI, pods: 1 };
  const pods = [...podsOf(20, 'odd', { requests: odd }), ...podsOf(20, 'even', { requests: even })];
  const plan = planOf({ types, pods });
  for (const { chosen, requests } of plan.newNodeClaims) {
    const type = types.find(({ name }) => name === chosen.type);
    expect(requests['memory']).toBeLessThanOrEqual(type?.capacity['memory'] ?? 0);
  }
  // 20 odd pods and 4 even ones ask for 384 GiB and 8 bytes: not for an m.96.
  expect(plan.pricePerHour).toBeLessThan(6.04);
});
