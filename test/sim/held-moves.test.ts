import { expect, it } from 'vitest';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

type Steps = Scenario['steps'];

/** A pool of c7g.xlarge and c8g.xlarge. */
function pool(annotations: Json = {}): Json {
  const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
  const own = nodePool(['on-demand'], { disruption });
  return { ...own, metadata: { name: 'default', annotations } };
}

/** c7g counts as half as dear again, so that c8g is cheaper. */
const overlay: Json = {
  apiVersion: 'karpenter.sh/v1alpha1',
  kind: 'NodeOverlay',
  metadata: { name: 'c7g' },
  spec: {
    requirements: [{ key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c7g'] }],
    priceAdjustment: '+50%',
  },
};

/** Of the pods of `web`. */
function budget(maxUnavailable: number): Json {
  const selector = { matchLabels: { app: 'web' } };
  const metadata = { name: 'web', namespace: 'default' };
  const spec = { selector, maxUnavailable };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec };
}

const pausedDisrupt = (value: string): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'joiner', namespace: 'kube-system' },
  data: { 'pause.disrupt': value },
});

async function worldOf(own: Json, replicas: number, steps: Steps): Promise<World> {
  const { world } = await smallWorld([nodeClass, own, deployment('web', replicas, '1500m')], {
    types: /^(c7g|c8g)\.xlarge$/,
    scenario: { steps },
  });
  return world;
}

const at = (minutes: number, ...objects: readonly Json[]): Steps[number] =>
  ({ at: minutes * MINUTE, apply: objects }) as never;

it('a node whose pods hold each of its moves is moved ever more seldom', async () => {
  const steps = [at(5, overlay, budget(0))];
  for (let minute = 10; minute < 600; minute += 14) {
    steps.push(at(minute - 1 / 3, budget(4)), at(minute + 1 / 3, budget(0)));
  }
  const world = await worldOf(pool(), 8, steps);
  await world.run(WORLD_START_MS + 600 * MINUTE);
  // Of four nodes each begins a move after 15, 30, 60, 120 and 240 minutes.
  expect(world.launched).toBeLessThanOrEqual(4 + 4 * 6);
  expect(world.launched).toBeGreaterThan(4 + 4);
  const said = entries(world, 'DisruptionBlocked').map(({ message }) => message);
  expect(said.some((text) => text?.includes('PodDisruptionBudget default/web'))).toBe(true);
});

it('no move begins that would wait for the end of a window', async () => {
  const window = { 'joiner.dev/pause': 'disrupt from 10 0 * * * for 10h' };
  const world = await worldOf(pool(window), 8, [at(5, overlay)]);
  await world.run(WORLD_START_MS + 300 * MINUTE);
  expect(world.launched).toBe(4);
  await world.run(WORLD_START_MS + 640 * MINUTE);
  expect(world.launched).toBe(8);
});

it('no drifted node is replaced by one that would be there beside it through a window', async () => {
  const spec = {
    ...(nodeClass['spec'] as Json),
    amiSelectorTerms: [{ alias: 'al2023@v20260122' }],
  };
  const window = { 'joiner.dev/pause': 'disrupt from 10 0 * * * for 2h' };
  const world = await worldOf(pool(window), 2, [at(5, { ...nodeClass, spec })]);
  await world.run(WORLD_START_MS + 125 * MINUTE);
  expect(world.launched).toBe(1);
  const said = entries(world, 'DisruptionBlocked').map(({ message }) => message);
  expect(said.some((text) => text?.includes('pauses disruptions within 10 minutes'))).toBe(true);
  await world.run(WORLD_START_MS + 140 * MINUTE);
  expect(world.launched).toBe(2);
  expect(world.store.list('Node')).toHaveLength(1);
});

it('a move that a pause held is not given up at the first minute in which pods hold it', async () => {
  const steps = [
    at(5, overlay, budget(8)),
    at(7, pausedDisrupt('on')),
    at(50, budget(0)),
    at(60, pausedDisrupt('off')),
    at(63, budget(8)),
  ];
  const world = await worldOf(pool(), 8, steps);
  await world.run(WORLD_START_MS + 59 * MINUTE);
  expect(world.launched).toBe(8);
  await world.run(WORLD_START_MS + 90 * MINUTE);
  expect(world.launched).toBe(8);
  expect(world.evictions).toBe(8);
});
