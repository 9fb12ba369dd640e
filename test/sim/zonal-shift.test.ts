import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../shared/core/lifecycle/conditions.ts';
import { ZONE } from '../../shared/core/model/labels.ts';
import type { Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { spread } from '../unit/app/world.ts';
import { nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

function zonesOf(world: World): readonly string[] {
  const { nodes } = readState(world.store).objects;
  return [...new Set(nodes.map(({ labels }) => labels[ZONE] ?? ''))].sort();
}

function usable(world: World) {
  const [pool] = readState(world.store).objects.nodePools;
  return pool === undefined ? undefined : conditionOf(pool, 'ZonesUsable');
}

async function shiftedWorld() {
  const away = new Set<string>();
  const wrap = (ports: Ports): Ports => ({
    ...ports,
    zonalShifts: { awayFrom: async () => new Set(away) },
  });
  const pool = nodePool(['on-demand'], {
    disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' },
  });
  const { world, script } = await smallWorld([nodeClass, pool], { wrap });
  return { away, world, script };
}

describe('a zone that ARC shifts the cluster away from', () => {
  it('takes no launches, which the NodePool says, until the shift ends', async () => {
    const { away, world, script } = await shiftedWorld();
    await world.run(WORLD_START_MS + MINUTE);
    const [first] = (await world.ports.network.subnets([{ tags: { a: 'b' } }])).toSorted((a, b) =>
      a.zone < b.zone ? -1 : 1,
    );
    away.add(first?.zoneId ?? '');
    script.apply([spread('web', 6)]);
    await world.run(WORLD_START_MS + 5 * MINUTE);
    expect(zonesOf(world)).not.toContain(first?.zone);
    expect(zonesOf(world).length).toBeGreaterThan(0);
    expect(usable(world)).toMatchObject({ status: 'False', reason: 'ZonalShift' });
    expect(usable(world)?.message).toContain(`${first?.zone} (${first?.zoneId})`);
    away.clear();
    await world.run(WORLD_START_MS + 7 * MINUTE);
    expect(usable(world)).toMatchObject({ status: 'True' });
  });

  it('keeps its nodes, empty ones too, until the shift ends', async () => {
    const { away, world, script } = await shiftedWorld();
    script.apply([spread('web', 3)]);
    await world.run(WORLD_START_MS + 4 * MINUTE);
    expect(zonesOf(world).length).toBeGreaterThan(0);
    for (const { zoneId } of await world.ports.network.subnets([{ tags: { a: 'b' } }])) {
      away.add(zoneId ?? '');
    }
    await world.run(WORLD_START_MS + 6 * MINUTE);
    script.apply([spread('web', 0)]);
    await world.run(WORLD_START_MS + 15 * MINUTE);
    expect(readState(world.store).objects.nodes).toHaveLength(3);
    away.clear();
    await world.run(WORLD_START_MS + 25 * MINUTE);
    expect(readState(world.store).objects.nodes).toHaveLength(0);
  });
});
