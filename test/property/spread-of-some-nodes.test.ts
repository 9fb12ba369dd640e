import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAPACITY_TYPE, ZONE } from '../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import { ofApp, spreadOver } from '../builders/affinity.ts';
import { FAMILY, planOf, podsOf, ZONES } from '../builders/scheduling.ts';

const zones: readonly string[] = ZONES;

/** On demand is dearest where spot is cheapest. */
const TYPES = FAMILY.slice(0, 2).map((type) => ({
  ...type,
  offerings: type.offerings.map((each) => {
    const dear = each.capacityType === 'on-demand' ? [0.15, 0.1, 0.1] : [0.01, 0.04, 0.05];
    return {
      ...each,
      price: each.price * 10 * (dear[zones.indexOf(each.zone)] ?? 1),
    };
  }),
}));

const group = fc.record({
  count: fc.integer({ min: 1, max: 5 }),
  cpu: fc.constantFrom(250, 500, 900),
  capacityType: fc.constantFrom(undefined, 'on-demand', 'spot'),
  zone: fc.constantFrom(undefined, undefined, ...ZONES),
  isSpread: fc.boolean(),
  isWeb: fc.integer({ min: 0, max: 3 }).map((each) => each > 0),
});

const pods = fc.array(group, { minLength: 2, maxLength: 6 }).map((all) =>
  all.flatMap(({ count, cpu, capacityType, zone, isSpread, isWeb }, at) =>
    podsOf(
      count,
      `g${at}`,
      {
        cpu,
        nodeSelector: {
          ...(capacityType === undefined ? {} : { [CAPACITY_TYPE]: capacityType }),
          ...(zone === undefined || isSpread ? {} : { [ZONE]: zone }),
        },
        topologySpread: isSpread ? [spreadOver(ZONE, ofApp('web'))] : [],
      },
      { labels: { app: isWeb ? 'web' : 'db' } },
    ),
  ),
);

interface Placed {
  readonly pod: Pod;
  readonly zone: string;
  readonly capacityType: string;
}

/** By zone, how many of these there are. */
const byZone = (placed: readonly Placed[]): readonly number[] =>
  ZONES.map((zone) => placed.filter((each) => each.zone === zone).length);

describe('a spread over zones', () => {
  it.each(['quick', 'normal'] as const)(
    'counts pods on nodes that its own pods could go to, and no others: effort %s',
    (effort) => {
      fc.assert(
        fc.property(pods, (pending) => {
          const plan = planOf({ pods: pending, types: TYPES }, { effort });
          const placed = plan.newNodeClaims.flatMap(({ chosen, pods: keys }): readonly Placed[] => {
            const { zone, capacityType } = chosen;
            const own = pending.filter((pod) => keys.includes(podKey(pod)));
            return own.map((pod) => ({ pod, zone, capacityType }));
          });
          for (const asked of [undefined, 'on-demand', 'spot']) {
            const counted = placed.filter(
              ({ pod, capacityType }) =>
                pod.labels['app'] === 'web' && (asked ?? capacityType) === capacityType,
            );
            const bound = counted.filter(
              ({ pod: { spec } }) =>
                spec.topologySpread.length > 0 && spec.nodeSelector[CAPACITY_TYPE] === asked,
            );
            // Of those that are bound by the spread the last found so many in its zone at least.
            const least = Math.min(...byZone(counted));
            expect(Math.max(...byZone(bound)) - least).toBeLessThanOrEqual(1);
          }
        }),
        { numRuns: 150, seed: 4 },
      );
    },
  );
});
