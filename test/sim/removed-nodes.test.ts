import { expect, test } from 'vitest';
import { phaseOf } from '../../shared/sim/objects.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const atMinute = (minutes: number): number => WORLD_START_MS + minutes * 60_000;

test('the NodeClaim of a Node that is removed by force goes, and its pods get another node', async () => {
  const manifests = [nodeClass, nodePool(['on-demand']), deployment('web', 2, '500m')];
  const { world } = await smallWorld(manifests);
  const { store, compute } = world;
  await world.run(atMinute(5));
  const [node] = store.list('Node');
  const [claim] = store.list('NodeClaim');
  if (node === undefined) throw new Error('no node has joined');
  store.update(node, (latest) => ({
    ...latest,
    metadata: { ...latest.metadata, finalizers: [] },
  }));
  store.delete(node);
  await world.run(atMinute(8));
  expect(store.list('Pod').map(phaseOf)).toEqual(['Running', 'Running']);
  const left = store.list('NodeClaim').map(({ metadata }) => metadata.uid);
  expect([left.length, left.includes(claim?.metadata.uid ?? '')]).toEqual([1, false]);
  expect(compute.machines.size).toBe(1);
});
