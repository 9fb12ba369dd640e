import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bound, lowerBound } from '../../cli/bound/bound.ts';
import type { Offering } from '../../shared/core/model/instance-type.ts';
import { HOSTNAME, NODE_POOL, RESERVED, ZONE } from '../../shared/core/model/labels.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../shared/core/model/snapshot.ts';
import { solve } from '../../shared/core/scheduling/solve.ts';
import { ofApp, termOver } from '../builders/affinity.ts';
import { GI, nodeOf, podsOf, poolOf, snapshotOf, typeOf } from '../builders/scheduling.ts';
import { tinyCase, tinySnapshot } from '../builders/tiny-cases.ts';

type Limits = Parameters<typeof lowerBound>[4];

async function bounded(
  snapshot: ClusterSnapshot,
  limits?: Limits,
): Promise<{ readonly plan: Plan; readonly bound: Bound }> {
  const plan = solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
  const progress = { begin: () => undefined };
  const bound = await lowerBound(snapshot, DEFAULT_SCHEDULING_SETTINGS, plan, progress, limits);
  return { plan, bound };
}

/** So little work that no program is written or solved. */
const TOO_LARGE: Limits = { charactersMax: 0, stepsMax: 10_000 };
const TOO_LONG: Limits = { charactersMax: 10_000_000, stepsMax: 0 };

/** Solved as well as is possible: tiny-cases.test.ts. */
const TINY = fc.sample(tinyCase, { numRuns: 120, seed: 2 });

const MIXED = fc.sample(
  fc.array(
    fc.record({
      count: fc.integer({ min: 1, max: 9 }),
      cpu: fc.integer({ min: 1, max: 31 }).map((each) => each * 500),
      memory: fc.integer({ min: 1, max: 60 }).map((each) => each * GI),
      isApart: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  { numRuns: 60, seed: 3 },
);

/** Beside nodes that are there; some pods are for one zone, and one zone has reservations. */
const BESIDE = fc.sample(
  fc.record({
    rooms: fc.array(fc.integer({ min: 1, max: 16 }), { maxLength: 6 }),
    sizes: fc.array(
      fc.record({
        count: fc.integer({ min: 1, max: 12 }),
        cpu: fc.integer({ min: 1, max: 16 }).map((each) => each * 250),
        zone: fc.constantFrom('zone-a', 'zone-b', undefined),
      }),
      { minLength: 1, maxLength: 5 },
    ),
  }),
  { numRuns: 60, seed: 5 },
);

const RESERVING = [2, 8, 32].map((cpu) => {
  const type = typeOf(`m.${cpu}`, cpu, cpu * 4, cpu / 20);
  const reservation = { id: `cr-${cpu}`, type: 'default' as const, capacity: 2 };
  const reserved = type.offerings
    .filter(({ zone }) => zone === 'zone-a')
    .map((each): Offering => ({ ...each, capacityType: RESERVED, price: 0.000001, reservation }));
  return { ...type, offerings: [...type.offerings, ...reserved] };
});

describe('the lower bound', () => {
  it.each([
    ['', undefined],
    [', where its program is too large', TOO_LARGE],
  ])('is not above the best of all plans%s', async (_, limits) => {
    for (const tiny of TINY) {
      const { plan, bound } = await bounded(tinySnapshot(tiny), limits);
      expect(bound.pricePerHour).toBeLessThanOrEqual(plan.pricePerHour + 1e-9);
    }
  });

  it.each([
    ['', undefined],
    [', where its program is too large', TOO_LARGE],
  ])(
    'is not above plans of large pods, pods that keep apart, and small ones%s',
    async (_, limits) => {
      for (const groups of MIXED) {
        const pods = groups.flatMap(({ count, cpu, memory, isApart }, at) => {
          const podAntiAffinity = isApart ? [termOver(HOSTNAME, ofApp('apart'))] : [];
          const labels = isApart ? { app: 'apart' } : {};
          return podsOf(count, `group-${at}`, { cpu, memory, podAntiAffinity }, { labels });
        });
        const { plan, bound } = await bounded(snapshotOf({ pods }), limits);
        expect(bound.pricePerHour).toBeLessThanOrEqual(plan.pricePerHour + 1e-9);
      }
    },
  );

  it.each([
    ['too large', TOO_LARGE],
    ['too long to solve', TOO_LONG],
  ])('says that it is weaker where its program is %s, and is not 0', async (_, limits) => {
    const sizes = [700, 1_900, 3_300];
    const pods = sizes.flatMap((cpu) =>
      podsOf(20, `cpu-${cpu}`, { cpu, memory: (cpu * GI) / 1000 }),
    );
    const { bound: whole } = await bounded(snapshotOf({ pods }));
    const { plan, bound } = await bounded(snapshotOf({ pods }), limits);
    expect([whole.weaker, bound.weaker]).toEqual([false, true]);
    expect(bound.pricePerHour).toBeLessThanOrEqual(whole.pricePerHour + 1e-9);
    expect(bound.pricePerHour).toBeGreaterThan(plan.pricePerHour / 2);
  });

  it.each([
    ['', undefined],
    [', where a program is too large', TOO_LARGE],
  ])('is that of parts which share no NodePool, added%s', async (_, limits) => {
    const teams = ['one', 'other'].map((team, at) =>
      [700, 1_900, 3_300].flatMap((cpu) => {
        const memory = (cpu * GI) / (at === 0 ? 1000 : 125);
        const nodeSelector = { [NODE_POOL]: team };
        return podsOf(20, `${team}-${cpu}`, { cpu, memory, nodeSelector });
      }),
    );
    const nodePools = ['one', 'other'].map((name) => poolOf(name));
    const types = [typeOf('c', 16, 32, 0.6), typeOf('r', 16, 128, 1.2)];
    const boundOf = async (pods: ClusterSnapshot['pods']) =>
      (await bounded(snapshotOf({ nodePools, types, pods }), limits)).bound.pricePerHour;
    const apart = await Promise.all(teams.map(boundOf));
    const sum = apart.reduce((total, each) => total + each, 0);
    expect(await boundOf(teams.flat())).toBeCloseTo(sum, 4);
  });

  it('is not above plans beside nodes, reservations and pools for some pods, where it is weaker', async () => {
    for (const { rooms, sizes } of BESIDE) {
      const nodes = rooms.map((cpu, at) => nodeOf(`n${at}`, cpu, cpu * 2));
      const pods = sizes.flatMap(({ cpu, count, zone }, at) => {
        const nodeSelector = zone === undefined ? {} : { [ZONE]: zone };
        return podsOf(count, `s${at}`, { cpu, memory: GI, nodeSelector });
      });
      const snapshot = snapshotOf({ nodes, pods, types: RESERVING });
      const { bound: whole } = await bounded(snapshot);
      const { plan, bound } = await bounded(snapshot, TOO_LARGE);
      expect(bound.pricePerHour).toBeLessThanOrEqual(plan.pricePerHour + 1e-9);
      expect(whole.pricePerHour).toBeLessThanOrEqual(plan.pricePerHour + 1e-9);
    }
  });

  it('is near the plan, not above it, beside many nodes of different room', async () => {
    const shapes = fc.record({
      cpu: fc.integer({ min: 1, max: 40 }).map((each) => each * 100),
      memory: fc.integer({ min: 1, max: 40 }).map((each) => (each * GI) / 4),
    });
    const rooms = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }));
    const sample = { numRuns: 1000, seed: 4 };
    const nodes = fc
      .sample(rooms, sample)
      .map(([cpu, memory], at) => nodeOf(`n${at}`, cpu / 8, memory / 4));
    const pods = fc
      .sample(shapes, { ...sample, numRuns: 60 })
      .flatMap((shape, at) => podsOf(40, `s${at}`, shape));
    const { plan, bound } = await bounded(snapshotOf({ nodes, pods }));
    expect(plan.existing.length).toBeGreaterThan(500);
    expect(bound.pricePerHour).toBeLessThanOrEqual(plan.pricePerHour);
    expect(bound.gapPercent).toBeLessThan(5.2);
  }, 30_000);

  const alone = [typeOf('m.16xlarge', 64, 256, 3)];

  it.each([
    ['of which a node has room for one and a half', 40_000, 7],
    ['of which a node has room for two and a half', 24_000, 4],
  ])('buys whole nodes for whole pods: seven %s', async (_, cpu, nodes) => {
    // Small pods of other sizes, so that the bound cannot be that of one kind of pods alone.
    const pods = [
      ...podsOf(4, 'large', { cpu, memory: GI }),
      ...podsOf(3, 'larger', { cpu: cpu + 2, memory: 2 * GI }),
    ];
    const { bound } = await bounded(snapshotOf({ pods, types: alone }));
    expect(bound.pricePerHour).toBeGreaterThan(3 * (nodes - 0.51));
  });

  it('buys a node for each of the pods that keep apart, whatever they request', async () => {
    const podAntiAffinity = [termOver(HOSTNAME, ofApp('apart'))];
    const pods = [1_000, 2_000, 3_000].flatMap((cpu) =>
      podsOf(2, `cpu-${cpu}`, { cpu, podAntiAffinity }, { labels: { app: 'apart' } }),
    );
    const { plan, bound } = await bounded(snapshotOf({ pods, types: alone }));
    expect(plan.pricePerHour).toBe(18);
    expect(bound.pricePerHour).toBeCloseTo(18, 3);
  });
});
