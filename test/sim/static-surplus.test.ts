import { expect, it } from 'vitest';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

function pool(replicas: number): Json {
  return nodePool(['on-demand'], { replicas });
}

function podOn(nodeName: string, name: string, annotations: Json = {}): Json {
  const resources = { requests: { cpu: '100m' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations },
    spec: { nodeName, containers: [{ name: 'main', image: 'app', resources }] },
  };
}

it('a static pool that shrinks keeps the node whose pod may not be disrupted', async () => {
  const { world, script } = await smallWorld([nodeClass, pool(2)]);
  await world.run(WORLD_START_MS + 3 * MINUTE);
  const [kept = '', other = ''] = world.store.list('Node').map(({ metadata }) => metadata.name);
  const protection = { 'karpenter.sh/do-not-disrupt': 'true' };
  script.apply([podOn(kept, 'a', protection), podOn(other, 'b'), podOn(other, 'c')]);
  await world.run(WORLD_START_MS + 4 * MINUTE);
  script.apply([pool(1)]);
  await world.run(WORLD_START_MS + 10 * MINUTE);
  expect(world.store.list('Node').map(({ metadata }) => metadata.name)).toEqual([kept]);
});
