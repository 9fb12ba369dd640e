import fc from 'fast-check';
import { HOSTNAME, ZONE } from '../../shared/core/model/labels.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { ofApp, spreadOver, termOver } from './affinity.ts';
import { BONDS, type TinyCase, type TinyGroup } from './every-plan.ts';
import { GI, podsOf, poolOf, snapshotOf, typeOf, ZONES } from './scheduling.ts';

const PODS_MAX = 5;

const group = fc.record({
  bond: fc.constantFrom(...BONDS),
  count: fc.integer({ min: 1, max: 3 }),
  cpu: fc.integer({ min: 1, max: 12 }).map((each) => each * 500),
  memoryGi: fc.integer({ min: 1, max: 12 }),
  priority: fc.constantFrom(0, 0, 100),
  zone: fc.constantFrom(undefined, undefined, 'zone-a', 'zone-b'),
});

const type = fc.record({
  cpu: fc.constantFrom(2, 4, 8),
  memoryGi: fc.constantFrom(4, 8, 16),
  cents: fc.integer({ min: 4, max: 60 }),
  /** Prices differ from zone to zone as those of spot do. */
  dearer: fc.constantFrom(0, 1, 7),
});

/** Cases of which every plan can be looked at. */
export const tinyCase: fc.Arbitrary<TinyCase> = fc
  .record({
    groups: fc.array(group, { minLength: 1, maxLength: 3 }),
    types: fc.array(type, { minLength: 1, maxLength: 3 }),
    nodesMax: fc.constantFrom(1, 2, 9, 9),
  })
  .filter(({ groups }) => groups.reduce((sum, { count }) => sum + count, 0) <= PODS_MAX)
  .map(({ groups, types, nodesMax }) => ({
    nodesMax,
    groups: groups.map((each) =>
      each.bond === 'spreadByZone' ? { ...each, zone: undefined } : each,
    ),
    types: types.map(({ cents, dearer, ...rest }, index) => ({
      ...rest,
      name: `type-${index}`,
      prices: Object.fromEntries(ZONES.map((zone, at) => [zone, (cents + at * dearer) / 100])),
    })),
  }));

function specOf({ bond, cpu, memoryGi, priority, zone }: TinyGroup, app: string) {
  const labelSelector = ofApp(app);
  const terms = (topologyKey: string) => [termOver(topologyKey, labelSelector)];
  return {
    cpu,
    memory: memoryGi * GI,
    priority,
    nodeSelector: zone === undefined ? {} : { [ZONE]: zone },
    podAntiAffinity: bond === 'apart' ? terms(HOSTNAME) : bond === 'apartByZone' ? terms(ZONE) : [],
    podAffinity: bond === 'together' ? terms(HOSTNAME) : [],
    topologySpread: bond === 'spreadByZone' ? [spreadOver(ZONE, labelSelector)] : [],
  };
}

export function tinySnapshot({ groups, types, nodesMax }: TinyCase): ClusterSnapshot {
  return snapshotOf({
    pods: groups.flatMap((each, id) =>
      podsOf(each.count, `group-${id}`, specOf(each, `app-${id}`), {
        labels: { app: `app-${id}` },
      }),
    ),
    nodePools: [poolOf('general', { limits: { nodes: nodesMax } })],
    types: types.map(({ name, cpu, memoryGi, prices }) => {
      const plain = typeOf(name, cpu, memoryGi, 1);
      const offerings = plain.offerings.map((each) => {
        const price = prices[each.zone] ?? 0;
        return { ...each, price, listPrice: price };
      });
      return { ...plain, offerings };
    }),
  });
}
