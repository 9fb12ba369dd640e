import { expect, it, vi } from 'vitest';
import { CHANGE, entries, MINUTE, run } from './rolls.ts';
import { deployment, nodeClass, nodePool } from './small-world.ts';

// As if kube-scheduler did something else than what moves are played back with.
vi.mock('../../shared/core/scheduling/playback/stranded.ts', async (original) => ({
  ...(await original<typeof import('../../shared/core/scheduling/playback/stranded.ts')>()),
  mayStrand: () => false,
}));

const scaled = (at: number, name: string, replicas: number) => ({
  at,
  scale: { kind: 'Deployment' as const, name, namespace: 'default', replicas },
});

it('moves that bring nothing become rare', async () => {
  const pool = nodePool(['on-demand'], { disruption: { budgets: [{ nodes: '100%' }] } });
  const manifests = [
    nodeClass,
    pool,
    deployment('b', 6, '250m'),
    deployment('z', 0, '1500m'),
    deployment('a', 0, '6500m'),
  ];
  const steps = [scaled(CHANGE, 'z', 2), scaled(CHANGE + 6 * MINUTE, 'a', 1)];
  const { world, broken } = await run(manifests, 8 * 60, steps);
  expect(broken).toEqual([]);
  const evictions = (hours: readonly number[]): number =>
    entries(world, 'evicted').filter(({ at }) => hours.includes(Math.floor(at / 3600))).length;
  expect(evictions([0])).toBeGreaterThan(20);
  // Every other minute it would be some 240 an hour.
  expect(evictions([1, 2])).toBeLessThanOrEqual(20);
  expect(evictions([5, 6, 7])).toBeLessThanOrEqual(16);
  const held = world.recorder.decisions.find(({ id }) => id.includes('consolidation-held'));
  expect(held?.message).toMatch(/^The last moves of pods brought nothing: no others before 2026/);
});
