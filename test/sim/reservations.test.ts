import { describe, expect, it } from 'vitest';
import type { ReservationTerms } from '../../shared/sim/cloud/reservations.ts';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, objectAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const ID = 'cr-00000000000000001';

const reservingClass: Json = {
  ...nodeClass,
  spec: {
    ...objectAt(nodeClass, 'spec'),
    capacityReservationSelectorTerms: [{ tags: { team: 'web' } }],
  },
};

const reserved: ReservationTerms = {
  id: ID,
  instanceType: 'c7g.xlarge',
  zone: 'us-east-1a',
  instances: 2,
  reservationType: 'default',
  tags: { team: 'web' },
  endsAtMs: undefined,
};

const NEVER = { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' };

/** Pods for two instances of the reservation and one more. */
async function worldWith(terms: Partial<ReservationTerms>): Promise<World> {
  const pool = nodePool(['reserved', 'on-demand'], { disruption: NEVER });
  const { world } = await smallWorld([reservingClass, pool, deployment('web', 9, '900m')], {
    reservations: [{ ...reserved, ...terms }],
  });
  return world;
}

/** How two nodes that run are paid half an hour after somebody has created a reservation. */
async function paidOnceReserved(endsAtMs: number | undefined): Promise<readonly string[]> {
  const disruption = {
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: '0s',
    budgets: [{ nodes: '100%' }],
  };
  const pool = nodePool(['reserved', 'on-demand'], { disruption });
  const { world } = await smallWorld([reservingClass, pool, deployment('web', 3, '900m')], {
    reservations: [{ ...reserved, endsAtMs }],
  });
  world.compute.reservations.setOthers(ID, reserved.instances);
  await world.run(WORLD_START_MS + 10 * MINUTE);
  world.compute.reservations.setOthers(ID, 0);
  await world.run(WORLD_START_MS + 40 * MINUTE);
  return [...new Set(paid(world))];
}

/** By NodeClaim how it is paid, sorted. */
function paid(world: World): readonly string[] {
  const { nodeClaims } = readState(world.store).objects;
  return nodeClaims
    .filter(({ deletedAtMs }) => deletedAtMs === undefined)
    .map(({ labels }) => {
      const id = labels['karpenter.k8s.aws/capacity-reservation-id'] ?? '';
      return `${labels['karpenter.sh/capacity-type']} ${id}`.trim();
    })
    .sort();
}

describe('what the account has reserved', () => {
  it('is used before anything is bought', async () => {
    const world = await worldWith({});
    await world.run(WORLD_START_MS + 4 * MINUTE);
    expect(paid(world)).toEqual(['on-demand', `reserved ${ID}`, `reserved ${ID}`]);
  });

  it('is left to others who use it', async () => {
    const world = await worldWith({});
    world.compute.reservations.setOthers(ID, 1);
    await world.run(WORLD_START_MS + 4 * MINUTE);
    expect(paid(world)).toContain(`reserved ${ID}`);
    expect(paid(world).filter((each) => each !== 'on-demand')).toHaveLength(1);
  });

  it('ends, and its nodes run on as on-demand', async () => {
    const world = await worldWith({ endsAtMs: WORLD_START_MS + 10 * MINUTE });
    await world.run(WORLD_START_MS + 15 * MINUTE);
    expect(paid(world)).toEqual(['on-demand', 'on-demand', 'on-demand']);
    expect([world.evictions, world.terminated]).toEqual([0, 0]);
    const { nodeClaims } = readState(world.store).objects;
    const said = nodeClaims.flatMap(({ conditions }) => conditions.map(({ type }) => type));
    expect(said).not.toContain('Drifted');
  });

  it('is a Capacity Block whose nodes are drained before EC2 takes them', async () => {
    const endsAtMs = WORLD_START_MS + 60 * MINUTE;
    const world = await worldWith({ reservationType: 'capacity-block', endsAtMs });
    await world.run(WORLD_START_MS + 19 * MINUTE);
    expect(paid(world)).toContain(`reserved ${ID}`);
    await world.run(WORLD_START_MS + 29 * MINUTE);
    const machines = [...world.compute.machines.values()];
    expect(machines.filter(({ reservationId }) => reservationId === ID)).toEqual([]);
    const { pods } = readState(world.store).objects;
    expect(pods.filter(({ ready }) => ready)).toHaveLength(9);
    await world.run(WORLD_START_MS + 70 * MINUTE);
    expect(paid(world)).not.toContain(`reserved ${ID}`);
  });

  it('is moved to when it becomes free, unless it ends before that pays back', async () => {
    expect(await paidOnceReserved(undefined)).toEqual([`reserved ${ID}`]);
    expect(await paidOnceReserved(WORLD_START_MS + 60 * MINUTE)).toEqual(['on-demand']);
  });

  it('is created and cancelled by steps of a scenario, once each', async () => {
    const { endsAtMs: _, ...terms } = reserved;
    const steps = [
      { at: 0, reserve: { ...terms, tags: { team: 'api' } } },
      { at: 2 * MINUTE, reserve: { ...terms, id: 'cr-2', for: 6 * MINUTE } },
      { at: 3 * MINUTE, reserve: terms, cancel: { reservation: 'cr-3' } },
    ];
    const pool = nodePool(['reserved', 'on-demand'], { disruption: NEVER });
    const web = { kind: 'Deployment', name: 'web', namespace: 'default' } as const;
    const { world, script } = await smallWorld(
      [reservingClass, pool, deployment('web', 0, '900m')],
      { scenario: { steps: [...steps, { at: 4 * MINUTE, scale: { ...web, replicas: 9 } }] } },
    );
    await world.run(WORLD_START_MS + 7 * MINUTE);
    expect(paid(world)).toEqual(['on-demand', 'reserved cr-2', 'reserved cr-2']);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    expect(paid(world)).toEqual(['on-demand', 'on-demand', 'on-demand']);
    expect(script.rejected).toEqual({
      'steps[2]': [
        `capacity reservation ${ID} exists already`,
        'there is no active capacity reservation cr-3',
      ],
    });
    const told = world.journal.entries.filter(({ object }) => object.endsWith('/cr-2'));
    expect(told.map(({ at, kind }) => [at, kind])).toEqual([
      [120, 'reserve'],
      [480, 'expire'],
    ]);
  });
});
