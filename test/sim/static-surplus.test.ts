import { expect, it } from 'vitest';
import type { Ports } from '../../shared/ports.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { reading, withPorts } from '../unit/app/world.ts';
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

it('a static pool that shrinks says why its nodes go, and none goes while disruptions are paused', async () => {
  let isPaused = true;
  const wrap = (ports: Ports): Ports => {
    const read = reading(ports, (state) => ({
      ...state,
      pausedUntilMs: isPaused ? { disrupt: Number.POSITIVE_INFINITY } : {},
    }));
    return withPorts(ports, { cluster: { read } });
  };
  const { world, script } = await smallWorld([nodeClass, pool(3)], { wrap });
  await world.run(WORLD_START_MS + 3 * MINUTE);
  script.apply([pool(1)]);
  await world.run(WORLD_START_MS + 6 * MINUTE);
  expect(world.store.list('Node')).toHaveLength(3);
  isPaused = false;
  await world.run(WORLD_START_MS + 12 * MINUTE);
  expect(world.store.list('Node')).toHaveLength(1);
  const said = world.recorder.decisions
    .filter(({ useCase, action }) => useCase === 'provision' && /none|delete/.test(action))
    .map(({ action, message }) => `${action}: ${message}`);
  expect([...new Set(said)]).toEqual([
    'none: disruptions are paused in the ConfigMap kube-system/joiner',
    'delete: NodePool default has 3 nodes, and spec.replicas is 1',
  ]);
  const told = world.journal.entries.filter(({ message }) =>
    message.includes('spec.replicas is 1'),
  );
  expect(told.map(({ object }) => object.split('/')[0])).toEqual(['NodeClaim', 'NodeClaim']);
});

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
