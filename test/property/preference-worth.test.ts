import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ZONE } from '../../shared/core/model/labels.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import type { PodSpec } from '../../shared/core/model/pod.ts';
import { ofApp, spreadOver, termOver } from '../builders/affinity.ts';
import { FAMILY, GI, nodeOf, planOf, podsOf, poolOf } from '../builders/scheduling.ts';

const ZONES = ['zone-a', 'zone-b', 'zone-c'];

function softSpread(app: string): Partial<PodSpec> {
  return {
    topologySpread: [spreadOver(ZONE, ofApp(app), { whenUnsatisfiable: 'ScheduleAnyway' })],
  };
}

function inZone(zone: string): Partial<PodSpec> {
  const expression = { key: ZONE, operator: 'In' as const, values: [zone] };
  return {
    preferredNodeAffinity: [
      { weight: 10, term: { matchExpressions: [expression], matchFields: [] } },
    ],
  };
}

function nearOrApart(app: string, isNear: boolean): Partial<PodSpec> {
  const preferred = [{ weight: 50, term: termOver(ZONE, ofApp(app)) }];
  return isNear ? { preferredPodAffinity: preferred } : { preferredPodAntiAffinity: preferred };
}

const group = fc.record({
  count: fc.integer({ min: 1, max: 12 }),
  cpu: fc.integer({ min: 1, max: 12 }).map((each) => each * 250),
  memory: fc.integer({ min: 1, max: 16 }).map((each) => (each * GI) / 2),
  wish: fc.integer({ min: 0, max: 5 }),
  zone: fc.constantFrom(...ZONES),
});

const pods = fc.array(group, { minLength: 1, maxLength: 5 }).map((all) =>
  all.flatMap(({ count, cpu, memory, wish, zone }, index) => {
    const app = `g${index}`;
    const wishes = [
      {},
      softSpread(app),
      inZone(zone),
      nearOrApart(app, true),
      nearOrApart(app, false),
      { ...softSpread(app), ...inZone(zone) },
    ];
    return podsOf(count, app, { cpu, memory, ...wishes[wish] }, { labels: { app } });
  }),
);

/** What the types cost in a zone, as a share of their price in another. */
const factors = fc.tuple(...ZONES.map(() => fc.constantFrom(0.8, 1, 1, 1.05, 1.3, 2)));

function pricesBy(factor: readonly number[]) {
  return FAMILY.map((type) => ({
    ...type,
    offerings: type.offerings.map((each) => ({
      ...each,
      price: each.price * (factor[ZONES.indexOf(each.zone)] ?? 1),
    })),
  }));
}

function placed({ newNodeClaims, existing }: Plan): number {
  return [...newNodeClaims, ...existing].reduce((sum, each) => sum + each.pods.length, 0);
}

function price({ newNodeClaims }: Plan): number {
  return newNodeClaims.reduce((sum, { chosen }) => sum + chosen.price, 0);
}

it('preferences for zones add no more to a plan than preferenceWorth.zone', () => {
  fc.assert(
    fc.property(
      pods,
      factors,
      fc.boolean(),
      fc.constantFrom(0, 0.02, 0.1, 0.5),
      (waiting, factor, hasNode, zone) => {
        const preferenceWorth = { zone, other: 0.02 };
        const cluster = {
          types: pricesBy(factor),
          pods: waiting,
          nodes: hasNode ? [nodeOf('n1', 4, 16)] : [],
          nodePools: [poolOf('general')],
        };
        const plan = planOf(cluster, { preferenceWorth });
        const without = planOf(cluster, { preferencePolicy: 'Ignore' });
        expect(placed(plan)).toBe(placed(without));
        expect(price(plan)).toBeLessThanOrEqual(price(without) * (1 + zone) + 1e-9);
      },
    ),
    { seed: 20, numRuns: 300 },
  );
}, 120_000);
