import { expect, test } from 'vitest';
import { conditionStatus, isDeleting, setCondition } from '../../shared/sim/objects.ts';
import type { World } from '../../shared/sim/world.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
const atMinute = (minutes: number): number => WORLD_START_MS + minutes * MINUTE;

/** One pod on one node, whose kubelet is silent from minute 3 on. */
async function silentWorld(spec = {}) {
  const pool = nodePool(['on-demand'], { disruption: { budgets: [{ nodes: '100%' }] } });
  const { world } = await smallWorld([nodeClass, pool, deployment('web', 1, '1', spec)]);
  await world.run(atMinute(3));
  const [node] = world.store.list('Node');
  if (node === undefined) throw new Error('no node has joined');
  setReady(world, 'Unknown');
  return { world, node: node.metadata.name };
}

function setReady(world: World, status: string): void {
  const [node] = world.store.list('Node');
  if (node === undefined) throw new Error('the node has gone');
  const condition = { type: 'Ready', status };
  world.store.update(node, (latest) => setCondition(latest, condition, world.timeline.isoNow()));
}

test('pods of a silent node stay for five minutes, are replaced, and go with their node', async () => {
  const { world, node } = await silentWorld();
  await world.run(atMinute(7.9));
  const [pod] = world.store.list('Pod');
  expect(pod && [conditionStatus(pod, 'Ready'), isDeleting(pod)]).toEqual(['False', false]);
  await world.run(atMinute(8.1));
  expect(world.store.list('Pod').map(isDeleting).sort()).toEqual([false, true]);
  await world.run(atMinute(15));
  expect(world.store.list('Node').map(({ metadata }) => metadata.name)).not.toContain(node);
  expect(world.store.list('Pod').map((each) => conditionStatus(each, 'Ready'))).toEqual(['True']);
});

test('pods of a node that is heard of again in time stay', async () => {
  const { world, node } = await silentWorld();
  await world.run(atMinute(7));
  setReady(world, 'True');
  await world.run(atMinute(10));
  expect(world.store.podsOn(node).map((each) => conditionStatus(each, 'Ready'))).toEqual(['True']);
  expect(world.store.list('Node').flatMap((each) => each.spec)).toMatchObject([{ taints: [] }]);
});

test.each([
  ['goes after the time that it tolerates', { tolerationSeconds: 30 }, true],
  ['stays where it tolerates it for ever', {}, false],
])('a pod %s', async (_, fields, isGoing) => {
  const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', ...fields };
  const { world, node } = await silentWorld({ tolerations: [toleration] });
  await world.run(atMinute(isGoing ? 3.6 : 12));
  expect(world.store.podsOn(node).map(isDeleting)).toEqual([isGoing]);
});
