import { expect, it } from 'vitest';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { nodeClass, nodePool, smallWorld } from './small-world.ts';

const FAMILIES = ['c7g', 'm7g', 'c6a', 'm6a'] as const;
const SIZES = ['large', 'xlarge', '2xlarge'] as const;

/** EC2 has nothing of what the pool may use for twenty minutes. */
const shortage: Scenario['steps'] = FAMILIES.flatMap((family) =>
  SIZES.map((size) => ({
    at: 0,
    unavailable: { instanceType: `${family}.${size}`, for: 20 * MINUTE },
  })),
);

it('a static pool waits out a shortage with few claims, and says so', async () => {
  const pool = nodePool(['on-demand'], { replicas: 3 });
  const { world } = await smallWorld([nodeClass, pool], { scenario: { steps: shortage } });
  await world.run(WORLD_START_MS + 19 * MINUTE);
  expect(world.store.list('Node')).toEqual([]);
  // Those that met the shortage, and after the time for which what failed is left alone.
  const created = entries(world, 'created').length;
  expect(created).toBeGreaterThanOrEqual(3);
  expect(created).toBeLessThanOrEqual(24);
  const said = entries(world, 'InsufficientCapacityError').filter(
    ({ object }) => object === 'NodePool/default',
  );
  expect(said.length).toBeGreaterThan(0);
  expect(said[0]?.message).toMatch(
    /^3 of the nodes in spec\.replicas cannot be launched: Nothing to launch: /u,
  );
  await world.run(WORLD_START_MS + 60 * MINUTE);
  expect(world.store.list('Node')).toHaveLength(3);
});
