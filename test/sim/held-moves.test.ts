import { expect, it } from 'vitest';
import { HELD_MOVES, REPLACED_BY } from '../../shared/core/model/labels.ts';
import { PortError, type Ports } from '../../shared/ports.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { withPorts } from '../unit/app/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, pausesMap, smallWorld } from './small-world.ts';

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

/** Pauses disruption from one minute to the other. */
const paused = (fromMinute: number, untilMinute: number): Steps[number] =>
  at(fromMinute, pausesMap(new Map([['disrupt', WORLD_START_MS + untilMinute * MINUTE]])));

async function worldOf(
  own: Json,
  replicas: number,
  steps: Steps,
  wrap: (ports: Ports) => Ports = (ports) => ports,
): Promise<World> {
  const { world } = await smallWorld([nodeClass, own, deployment('web', replicas, '1500m')], {
    types: /^(c7g|c8g)\.xlarge$/,
    scenario: { steps },
    wrap,
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
  const steps = [at(5, overlay, budget(8)), paused(5.5, 60), at(50, budget(0)), at(63, budget(8))];
  const world = await worldOf(pool(), 8, steps);
  await world.run(WORLD_START_MS + 59 * MINUTE);
  expect([world.evictions, world.launched]).toEqual([0, 8]);
  await world.run(WORLD_START_MS + 90 * MINUTE);
  expect([world.evictions, world.launched]).toEqual([8, 8]);
});

it('the time of a pause is none in which pods hold a move', async () => {
  // Held from minute 6 on, and for three minutes after the pause.
  const steps = [at(5, overlay), at(5.5, budget(0)), paused(10, 60), at(63, budget(8))];
  const world = await worldOf(pool(), 8, steps);
  await world.run(WORLD_START_MS + 75 * MINUTE);
  expect([world.evictions, world.launched]).toEqual([8, 8]);
});

it('a move that pods held waits longer, though the last write of its end was refused', async () => {
  const launchedBy = async (isRefused: boolean): Promise<number> => {
    let refused = 0;
    const refusing = (ports: Ports): Ports => {
      const patchNodeClaim: Ports['cluster']['patchNodeClaim'] = async (ref, patch) => {
        const { [REPLACED_BY]: ended, [HELD_MOVES]: held } = patch.annotations ?? {};
        if (isRefused && ended === null && held?.includes('count') === true) {
          refused += 1;
          throw new PortError('unknown', 'ServiceUnavailable', 'try again');
        }
        return await ports.cluster.patchNodeClaim(ref, patch);
      };
      return withPorts(ports, { cluster: { patchNodeClaim } });
    };
    const steps = [at(5, overlay, budget(0))];
    for (let minute = 10; minute < 150; minute += 14) {
      steps.push(at(minute - 1 / 3, budget(4)), at(minute + 1 / 3, budget(0)));
    }
    const world = await worldOf(pool(), 8, steps, refusing);
    await world.run(WORLD_START_MS + 100 * MINUTE);
    expect(refused > 0).toBe(isRefused);
    return world.launched;
  };
  expect(await launchedBy(true)).toBeLessThanOrEqual((await launchedBy(false)) + 4);
});
