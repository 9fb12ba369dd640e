import { expect, test } from 'vitest';
import { phaseOf } from '../../shared/sim/objects.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
const atMinute = (minutes: number): number => WORLD_START_MS + minutes * MINUTE;

test.each([
  ['and its kubelet runs on', 5, undefined, 0],
  ['and its pods stay for a while', 5, undefined, 70_000],
  ['and is back closed at once', 1.2, 2_000, 0],
  ['and is back closed before its pods are missed', 1.2, 2_000, 70_000],
  ['and is back closed before it is missed', 1.2, 30_000, 0],
  ['and is back closed when its NodeClaim goes', 5, 2_000, 0],
])(
  'the NodeClaim of a Node that is removed by force goes: %s',
  async (...[, minute, backMs, orphanMs]) => {
    const manifests = [nodeClass, nodePool(['on-demand']), deployment('web', 2, '500m')];
    const { world } = await smallWorld(manifests);
    const { store, compute } = world;
    world.controlPlane.orphanMs = () => orphanMs;
    await world.run(atMinute(minute));
    const [machine] = compute.machines.values();
    const [node] = store.list('Node');
    const [claim] = store.list('NodeClaim');
    if (node === undefined) throw new Error('no node has joined');
    store.update(node, (latest) => ({
      ...latest,
      metadata: { ...latest.metadata, finalizers: [] },
    }));
    store.delete(node);
    if (backMs !== undefined && machine !== undefined) {
      const isAlive = (): boolean => compute.machines.get(machine.id)?.state === 'running';
      world.timeline.after(backMs, () => world.kubelets.restart(machine, isAlive));
    }
    await world.run(atMinute(minute + 4));
    expect(store.list('Pod').map(phaseOf)).toEqual(['Running', 'Running']);
    const left = store.list('NodeClaim').map(({ metadata }) => metadata.uid);
    expect([left.length, left.includes(claim?.metadata.uid ?? '')]).toEqual([1, false]);
    expect(compute.machines.size).toBe(1);
  },
);
