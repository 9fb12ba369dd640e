import { expect, test } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import { conditionStatus } from '../../shared/sim/objects.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';
import { disruptionBudget } from './swarm/setting.ts';

const MINUTE = 60_000;

/** Three pods, of which so many crash; the budget says how many are to be healthy. */
async function crashing(count: number, minAvailable: number): Promise<World> {
  const web = deployment('web', 3, '500m');
  const budget = disruptionBudget('web', { minAvailable });
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), web, budget]);
  const crashed = new Set<string>();
  world.readyAfterMs = ({ metadata: { uid } }) => {
    if (crashed.size < count) crashed.add(uid);
    return crashed.has(uid) ? MINUTE : 0;
  };
  await world.run(WORLD_START_MS + 3 * MINUTE);
  return world;
}

async function evictable(world: World): Promise<readonly unknown[]> {
  const { pods } = readState(world.store).objects;
  const unready = pods.filter(({ ready }) => !ready);
  const asked = unready.map(({ namespace, name }) =>
    world.ports.cluster.evict({ kind: 'Pod', namespace, name }),
  );
  return await Promise.all(asked);
}

test.each([
  ['go where enough others are healthy', 2, 'done'],
  ['stay where too few are healthy', 3, 'blocked'],
] as const)('pods that are not ready %s', async (_, minAvailable, answer) => {
  const world = await crashing(1, minAvailable);
  expect(await evictable(world)).toEqual([answer]);
});

test('a pod is ready once its probe passes', async () => {
  const web = deployment('web', 1, '500m');
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), web]);
  const readyMs = WORLD_START_MS + 4 * MINUTE;
  world.readyAfterMs = () => Math.max(0, readyMs - world.timeline.nowMs());
  const ready = (): unknown => world.store.list('Pod').map((pod) => conditionStatus(pod, 'Ready'));
  await world.run(readyMs - 1000);
  expect(ready()).toEqual(['False']);
  await world.run(readyMs + 1000);
  expect(ready()).toEqual(['True']);
});
