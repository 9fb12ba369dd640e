import { describe, expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import type { WriteLeases } from '../../../../shared/app/writes/write-leases.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../../../shared/core/disruption/consolidation/payback.ts';
import { DO_NOT_DISRUPT } from '../../../../shared/core/model/labels.ts';
import type { Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import { WORLD_START_MS, type World } from '../../../../shared/sim/world.ts';
import { MINUTE } from '../../../sim/rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../../sim/small-world.ts';
import { withPorts } from '../world.ts';

/** Nodes that are half empty, in a world that moves nobody by itself. */
async function halfEmpty(): Promise<World> {
  const pool = nodePool(['on-demand'], { disruption: { budgets: [{ nodes: '100%' }] } });
  const half = { kind: 'Deployment' as const, name: 'b', namespace: 'default', replicas: 0 };
  const beside = { labels: { app: 'a' } };
  const { world } = await smallWorld(
    [nodeClass, pool, deployment('a', 8, '800m'), deployment('b', 8, '800m', beside)],
    {
      settings: { consolidation: { ...DEFAULT_CONSOLIDATION_SETTINGS, horizonMs: 0 } },
      scenario: { steps: [{ at: 3 * MINUTE, scale: half }] },
    },
  );
  await world.run(WORLD_START_MS + 10 * MINUTE + 1000);
  return world;
}

interface Played {
  readonly turns: number;
  readonly created: readonly string[];
  readonly deleted: readonly string[];
  readonly woken: number;
}

/** A pass; `between` is what happens between its turns. False: another gets the second turn. */
async function play(world: World, between: () => boolean = () => true): Promise<Played> {
  let [taken, woken] = [0, 0];
  let isOurs = false;
  const guarded = (ports: Ports): Ports => {
    const read: Ports['cluster']['read'] = async () => {
      expect(isOurs, 'reads in a turn only').toBe(true);
      return await ports.cluster.read();
    };
    return withPorts(ports, { cluster: { read } });
  };
  const ports = guarded(world.ports);
  const turns: WriteLeases = {
    wakeAnother: () => {
      woken += 1;
    },
    withLease: async (_, work) => {
      taken += 1;
      if (taken > 1 && !between()) return undefined;
      isOurs = true;
      const result = await work(ports);
      isOurs = false;
      return { result, isWoken: taken === 1 };
    },
  };
  const settings = { ...world.settings, consolidation: DEFAULT_CONSOLIDATION_SETTINGS };
  const { created, deleted, failures } = await disrupt(ports, settings, {}, turns);
  expect(failures).toEqual([]);
  return { turns: taken, created, deleted, woken };
}

/** What was done to nodes, of whatever kind. */
function done({ created, deleted }: Played): number {
  return created.length + deleted.length;
}

function protectAll(world: World): void {
  for (const pod of world.store.list('Pod')) {
    world.store.update(pod, (now) => ({
      ...now,
      metadata: {
        ...now.metadata,
        annotations: { ...now.metadata.annotations, [DO_NOT_DISRUPT]: 'true' },
      },
    }));
  }
}

describe('a pass of disrupt', () => {
  it('looks for moves without a turn, and makes them in another', async () => {
    const played = await play(await halfEmpty());
    expect(played.turns).toBe(2);
    expect(done(played)).toBeGreaterThan(0);
    // Who came during the first turn is answered before moves are made.
    expect(played.woken).toBe(1);
  });

  it('makes none that something has come in the way of meanwhile', async () => {
    const world = await halfEmpty();
    const played = await play(world, () => {
      protectAll(world);
      return true;
    });
    expect(played.turns).toBe(2);
    expect(done(played)).toBe(0);
    const { nodes } = readState(world.store).objects;
    expect(nodes.flatMap(({ taints }) => taints)).toEqual([]);
  });

  it('makes those that are such still where something else has changed', async () => {
    const world = await halfEmpty();
    const played = await play(world, () => {
      const [pod] = world.store.list('Pod');
      if (pod !== undefined) {
        const labels = { ...pod.metadata.labels, news: 'yes' };
        world.store.update(pod, (now) => ({ ...now, metadata: { ...now.metadata, labels } }));
      }
      return true;
    });
    expect(done(played)).toBeGreaterThan(0);
    const unchanged = await play(await halfEmpty());
    // Moves are judged one after the other: none counts on room that another's pods will take.
    expect(played.deleted).toEqual(unchanged.deleted);
    expect(played.created).toEqual(unchanged.created);
  });

  it('leaves them to the next where another has the turn', async () => {
    const world = await halfEmpty();
    const played = await play(world, () => false);
    expect(played.turns).toBe(2);
    expect(done(played)).toBe(0);
    expect(done(await play(world))).toBeGreaterThan(0);
  });

  it('takes one turn where there is nothing to move and nothing to say', async () => {
    const { world } = await smallWorld([nodeClass, nodePool(['on-demand'])]);
    await world.run(WORLD_START_MS + MINUTE);
    expect((await play(world)).turns).toBe(1);
  });
});
