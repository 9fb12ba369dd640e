import { describe, expect, it } from 'vitest';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';
import { solve } from '../../../shared/core/scheduling/solve.ts';
import { podOf, poolOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

const GI = 2 ** 30;
/** The same for a CPU and a GiB, as it is with AWS: in threes of 2, 4 and 8 GiB for a CPU. */
const TYPES = [1, 2, 4, 8, 16].flatMap((size) => [
  typeOf(`c.${size}`, 2 * size, 4 * size, 0.085 * size),
  typeOf(`m.${size}`, 2 * size, 8 * size, 0.096 * size),
  typeOf(`r.${size}`, 2 * size, 16 * size, 0.126 * size),
]);

/** Pods of as many shapes, with 1 to 10 GiB for a CPU. */
function unlike(count: number, seed: number) {
  const random = numbers(seed);
  return Array.from({ length: count }, (_, at) => {
    const cpu = 50 + below(2000, random);
    return podOf(`pod-${at}`, {
      cpu,
      memory: Math.round((cpu / 1000) * (1 + below(9, random)) * GI),
    });
  });
}

describe('pods of which each has a shape of its own', () => {
  it.each([200, 600])('%i of them fill their nodes', (count) => {
    const pods = unlike(count, count);
    const snapshot = snapshotOf({ types: TYPES, nodePools: [poolOf('general')], pods });
    const { newNodeClaims, unplaced } = solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
    expect(unplaced.size).toBe(0);
    const sum = (of: (spec: { cpu: number; memory: number }) => number) =>
      pods.reduce((all, { spec: { requests } }) => {
        const { cpu = 0, memory = 0 } = requests;
        return all + of({ cpu, memory });
      }, 0);
    // By the prices of m and r: what a CPU and a GiB cost at least.
    const perGi = (0.126 - 0.096) / 8;
    const perCpu = 0.096 / 2 - 4 * perGi;
    const least = sum(({ cpu, memory }) => (cpu / 1000) * perCpu + (memory / GI) * perGi);
    const price = newNodeClaims.reduce((all, { chosen }) => all + chosen.price, 0);
    expect(price).toBeGreaterThan(0.9 * least);
    expect(price).toBeLessThan(1.03 * least);
  });
});
