import { expect, test } from 'vitest';
import type { Json } from '../../shared/sim/json.ts';
import { phaseOf } from '../../shared/sim/objects.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';
import { CLASS, TEMPLATE } from './swarm/volumes.ts';

const MINUTE = 60_000;
const atMinute = (minutes: number): number => WORLD_START_MS + minutes * MINUTE;

function database(replicas: number, volumes = 1): Json {
  const { metadata, spec } = deployment('db', replicas, '100m');
  const volumeClaimTemplates = Array.from({ length: volumes }, (_, at) => ({
    ...TEMPLATE,
    metadata: { name: `data-${at}` },
  }));
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { ...Object(spec), serviceName: 'db', volumeClaimTemplates },
  };
}

async function worldOf(
  { count, afterMs = 0 }: { count: number; afterMs?: number },
  ...manifests: readonly Json[]
): Promise<World> {
  const pool = nodePool(['on-demand'], { disruption: { consolidateAfter: '0s' } });
  const { world } = await smallWorld([nodeClass, pool, CLASS, ...manifests]);
  world.attachLimitOf = () => ({ driver: 'ebs.csi.aws.com', count, afterMs });
  return world;
}

function running({ store }: World): number {
  return store.list('Pod').filter((pod) => phaseOf(pod) === 'Running').length;
}

test.each([
  ['with the node', 0, 3],
  // The pods have come by then.
  ['when the node is ready', 6_000, 1],
])(
  'pods beyond the volumes of a node get others, where its driver says it %s',
  async (_, afterMs, nodes) => {
    const world = await worldOf({ count: 2, afterMs }, database(6));
    await world.run(atMinute(20));
    expect(running(world)).toBe(6);
    expect(world.store.list('Node')).toHaveLength(nodes);
    expect(world.store.list('CSINode')).toHaveLength(nodes);
    expect(world.launched).toBeLessThanOrEqual(4);
  },
);

test('nodes that would attach fewer volumes than expected are not launched again and again', async () => {
  const world = await worldOf({ count: 2 }, database(6));
  await world.run(atMinute(120));
  expect(running(world)).toBe(6);
  expect(world.launched).toBeLessThanOrEqual(4);
});

test('a pod with more volumes than any node attaches has few launches', async () => {
  const world = await worldOf({ count: 2 }, database(1, 3));
  await world.run(atMinute(120));
  expect(running(world)).toBe(0);
  expect(world.launched).toBeLessThanOrEqual(5);
});
