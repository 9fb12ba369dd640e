import { describe, expect, it } from 'vitest';
import type { Propagation } from '../../shared/sim/store.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

/** A pool with a node; it is deleted after two minutes. */
async function withoutPool(how: Propagation): Promise<{ world: World; seen: readonly string[] }> {
  const pods = deployment('web', 1, '1');
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), pods]);
  const { store } = world;
  const seen: string[] = [];
  store.onChange(({ kind, object }) => {
    if (kind === 'removed' && object.kind !== 'Pod') seen.push(object.kind);
  });
  world.timeline.at(WORLD_START_MS + 2 * MINUTE, () => {
    for (const pool of store.list('NodePool')) store.delete(pool, 0, how);
  });
  await world.run(WORLD_START_MS + 5 * MINUTE);
  return { world, seen };
}

describe('the garbage collector of the simulated world', () => {
  it.each<[Propagation, readonly string[]]>([
    ['Background', ['NodePool', 'Node', 'NodeClaim']],
    ['Foreground', ['Node', 'NodeClaim', 'NodePool']],
  ])('takes away what a NodePool owned: %s', async (how, expected) => {
    const { world, seen } = await withoutPool(how);
    expect(seen).toEqual(expected);
    expect(world.compute.machines.size).toBe(0);
  });

  it('leaves what a NodePool owned where it is to be orphaned', async () => {
    const { world, seen } = await withoutPool('Orphan');
    expect(seen).toEqual(['NodePool']);
    const [claim] = world.store.list('NodeClaim');
    expect(claim?.metadata.ownerReferences).toEqual([]);
    expect(world.compute.machines.size).toBe(1);
  });

  it('lets the newest request decide', async () => {
    const { world } = await smallWorld([nodeClass]);
    const { store } = world;
    const [object] = store.list('EC2NodeClass');
    if (object === undefined) throw new Error('there is no class');
    store.delete(object, 0, 'Foreground');
    store.delete(object, 0, 'Orphan');
    expect(store.list('EC2NodeClass')[0]?.metadata.finalizers).toEqual(['orphan']);
    store.delete(object, 0, 'Background');
    expect(store.list('EC2NodeClass')).toEqual([]);
  });
});
