import { expect, it } from 'vitest';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';
import { GI, planOf, podsOf, typeOf } from '../../builders/scheduling.ts';

const TYPES = [2, 4, 8].flatMap((perCpu, family) =>
  [2, 4, 8, 16, 32, 64].map((cpu) =>
    typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, cpu * (0.02 + 0.006 * perCpu)),
  ),
);

/** So many shapes, so many pods of each. */
function shapesOf(name: string, shapes: number, count: number): readonly Pod[] {
  const random = numbers(shapes);
  return Array.from({ length: shapes }, (_, shape) => {
    const cpu = 100 + below(6000, random);
    return podsOf(count, `${name}${shape}`, { cpu, memory: cpu * (1 + below(7, random)) * 1e6 });
  }).flat();
}

function costOf(pods: readonly Pod[]): number {
  const plan = planOf({ types: TYPES, pods });
  expect(plan.unplaced.size).toBe(0);
  return plan.newNodeClaims.reduce((sum, { chosen }) => sum + chosen.price + 0.003, 0);
}

it('pods of few shapes cost no more beside pods that have a shape each', () => {
  const [few, single] = [shapesOf('few', 7, 40), shapesOf('single', 290, 1)];
  const apart = costOf(few) + costOf(single);
  // By combining no patterns, since a shape has fewer than two pods in the mean: this costs more.
  expect(costOf([...few, ...single]) / apart).toBeLessThanOrEqual(1.002);
});

it('a plan of many pods of odd shapes costs no more than that of its halves', () => {
  // Seven tenths and less of what one node has: which of them go together decides.
  const types = [
    typeOf('s.large', 8, 32, 0.4, { capacity: { cpu: 8000, memory: 32 * GI, pods: 10 } }),
  ];
  const random = numbers(3);
  const pods = Array.from({ length: 400 }, (_, at) => {
    const cpu = 700 * (1 + below(7, random));
    return podsOf(1, `p${at}`, { cpu, memory: GI });
  }).flat();
  const priceOf = (some: readonly Pod[]) =>
    planOf({ types, pods: some }).newNodeClaims.reduce((sum, { chosen }) => sum + chosen.price, 0);
  const halves = priceOf(pods.slice(0, 200)) + priceOf(pods.slice(200));
  expect(priceOf(pods) / halves).toBeLessThanOrEqual(1.002);
});
