import { describe, expect, it } from 'vitest';
import { clusters } from './clusters.ts';

/** More at night. */
const SEEDS = Number(process.env['JOINER_SWARM_SEEDS'] ?? 8);
const FIRST = Number(process.env['JOINER_SWARM_FIRST'] ?? 1);

describe('clusters that share a limit group, with faults', () => {
  const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST + at);

  it.each(seeds)('seed %d: together they never exceed it', async (seed) => {
    const { problems, most } = await clusters(seed);
    expect(problems).toEqual([]);
    expect(most.nodes).toBeGreaterThan(1);
  });
});
