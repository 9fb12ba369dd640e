import { expect, test } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, objectAt, textsAt } from '../../shared/sim/json.ts';
import { isDeleting, phaseOf } from '../../shared/sim/objects.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, jobOf, nodeClass, nodePool, smallWorld } from './small-world.ts';

const atMinute = (minutes: number): number => WORLD_START_MS + minutes * 60_000;
const POOL = nodePool(['on-demand'], { disruption: { consolidateAfter: '0s' } });

const quotaOf = (hard: Json): Json => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'few', namespace: 'default' },
  spec: { hard },
});

async function worldOf(hard: Json, ...manifests: readonly Json[]): Promise<World> {
  const { world } = await smallWorld([nodeClass, POOL, ...manifests]);
  world.store.apply(quotaOf(hard));
  return world;
}

const phases = ({ store }: World) => store.list('Pod').map(phaseOf);

function used({ store }: World): Json {
  return textsAt(store.get('ResourceQuota', 'default', 'few'), 'status', 'used');
}

test.each([
  ['pods', { pods: '3' }, { pods: '3' }],
  ['CPU', { 'requests.cpu': '3500m' }, { 'requests.cpu': '3' }],
  ['CPU by its short name', { cpu: '3' }, { cpu: '3' }],
  ['objects', { 'count/pods': '3' }, { 'count/pods': '3' }],
])(
  'a ReplicaSet has no more pods than its quota of %s lets, and no node for more',
  async (...[, hard, counted]) => {
    const world = await worldOf(hard, deployment('web', 8, '1'));
    await world.run(atMinute(10));
    expect(phases(world)).toEqual(['Running', 'Running', 'Running']);
    expect(used(world)).toEqual(counted);
    const { world: other } = await smallWorld([nodeClass, POOL, deployment('web', 3, '1')]);
    await other.run(atMinute(10));
    expect([world.launched, world.pricePerHour()]).toEqual([other.launched, other.pricePerHour()]);
  },
);

test('a pod that does not say what its quota counts is refused', async () => {
  const world = await worldOf({ 'requests.memory': '1Gi' }, deployment('web', 2, '1'));
  await world.run(atMinute(5));
  expect([phases(world), world.launched]).toEqual([[], 0]);
});

test('its pods come once the quota is larger, after the wait of its controller', async () => {
  const world = await worldOf({ pods: '1' }, deployment('web', 3, '1'));
  await world.run(atMinute(5));
  world.store.apply(quotaOf({ pods: '3' }));
  await world.run(atMinute(5.1));
  expect(phases(world)).toEqual(['Running']);
  await world.run(atMinute(12));
  expect(phases(world)).toEqual(['Running', 'Running', 'Running']);
});

test('pods of a Job that are over count as objects only', async () => {
  const template = deployment('batch', 1, '1');
  const pods = { 'joiner.dev/simulated-duration': '20s' };
  const spec = objectAt(template, 'spec', 'template');
  const short = { ...spec, metadata: { ...objectAt(spec, 'metadata'), annotations: pods } };
  const job = jobOf({ ...template, spec: { template: short } }, { completions: 4 });
  const world = await worldOf({ pods: '2', 'count/pods': '3' }, job);
  await world.run(atMinute(30));
  expect(phases(world)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
  expect(used(world)).toEqual({ pods: '0', 'count/pods': '3' });
});

test('a drained pod is refused until it has gone, and then another comes at once', async () => {
  const world = await worldOf({ pods: '2' }, deployment('web', 2, '1'));
  await world.run(atMinute(5));
  const [claim] = world.store.list('NodeClaim');
  if (claim === undefined) throw new Error('no node was launched');
  world.store.delete(claim);
  await world.run(atMinute(5) + 1_000);
  expect(world.store.list('Pod').map(isDeleting)).toEqual([true, true]);
  await world.run(atMinute(8));
  expect(phases(world)).toEqual(['Running', 'Running']);
  expect(world.launched).toBe(2);
});

test('a CapacityBuffer keeps no room that a quota would not let pods use', async () => {
  const { spec } = deployment('spare', 1, '1');
  const buffer = {
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: { name: 'spare', namespace: 'default' },
    spec: { podTemplateRef: { name: 'spare' }, replicas: 5 },
  };
  const template = {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { name: 'spare', namespace: 'default' },
    template: objectAt(spec, 'template'),
  };
  const world = await worldOf({ pods: '3' }, deployment('web', 2, '1'), template, buffer);
  await world.run(atMinute(20));
  const [held] = readState(world.store).capacityBuffers;
  expect([phases(world), held?.status.replicas]).toEqual([['Running', 'Running'], 1]);
  expect(world.pricePerHour()).toBeLessThan(0.2);
});
