import { expect, test } from 'vitest';
import { listAt } from '../../shared/sim/json.ts';
import { NOT_SLOW, type Slowness } from '../../shared/sim/node-facts.ts';
import { conditionStatus, isDeleting, phaseOf, setCondition } from '../../shared/sim/objects.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld, withTemplate } from './small-world.ts';

const MINUTE = 60_000;
const atMinute = (minutes: number): number => WORLD_START_MS + minutes * MINUTE;
const AGENT = { key: 'example.com/agent', effect: 'NoSchedule' };

async function worldOf(slowness: Partial<Slowness>): Promise<World> {
  const pool = withTemplate(nodePool(['on-demand']), { startupTaints: [AGENT] });
  const { world } = await smallWorld([nodeClass, pool, deployment('web', 1, '1')]);
  world.slownessOf = () => ({ ...NOT_SLOW, ...slowness });
  return world;
}

const phases = ({ store }: World) => store.list('Pod').map(phaseOf);

test.each([
  ['to join', { joinMs: 8 * MINUTE }],
  ['to be ready', { readyMs: 8 * MINUTE }],
  ['to lose its startup taint', { agentsMs: 8 * MINUTE }],
  ['for each of them', { joinMs: 3 * MINUTE, readyMs: 3 * MINUTE, agentsMs: 2 * MINUTE }],
])('a node that takes long %s is waited for', async (_, slowness) => {
  const world = await worldOf(slowness);
  await world.run(atMinute(8));
  expect(phases(world)).toEqual(['Pending']);
  await world.run(atMinute(11));
  expect([phases(world), world.launched]).toEqual([['Running'], 1]);
  expect(world.store.list('Node').flatMap((each) => listAt(each, 'spec', 'taints'))).toEqual([]);
});

test('pods of a node that is not ready any more are not either, and go after five minutes', async () => {
  const world = await worldOf({});
  await world.run(atMinute(3));
  const [node] = world.store.list('Node');
  if (node === undefined) throw new Error('no node has joined');
  const say = (status: string): void => {
    const at = world.timeline.isoNow();
    world.store.update(node, (latest) => setCondition(latest, { type: 'Ready', status }, at));
  };
  const pods = () => world.store.podsOn(node.metadata.name);
  say('False');
  await world.run(atMinute(7.9));
  expect(pods().map((pod) => [conditionStatus(pod, 'Ready'), isDeleting(pod)])).toEqual([
    ['False', false],
  ]);
  say('True');
  await world.run(atMinute(9));
  expect(pods().map((pod) => conditionStatus(pod, 'Ready'))).toEqual(['True']);
  say('False');
  await world.run(atMinute(14.5));
  expect(pods()).toEqual([]);
});
