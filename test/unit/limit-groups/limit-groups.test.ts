import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupRooms, withGroupCaps } from '../../../shared/core/limit-groups/group-room.ts';
import {
  capsAt,
  LIMIT_GROUPS_LIKE,
  limitGroupsOf,
  unknownGroup,
} from '../../../shared/core/limit-groups/limit-groups.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { solve } from '../../../shared/core/scheduling/solve.ts';
import { claimOf, FAMILY, podOf, poolOf, snapshotOf } from '../../builders/scheduling.ts';

const GROUP = 'joiner.dev/limit-group';
const PRICE = 'joiner.dev/price';
const inGroup = (name: string, group: string) => poolOf(name, { annotations: { [GROUP]: group } });
const groupsOf = (text: string) => limitGroupsOf(text) ?? [];
/** A Monday. */
const at = (time: string): number => Date.parse(`2026-01-05T${time}:00Z`);

describe('limitGroups', () => {
  it.each([
    ['', 0],
    ['batch nodes=3', 1],
    ['  batch   nodes=3 cpu=1500m ;; all memory=1Gi; ', 2],
    ['batch price=0 from @daily for 1h30m', 1],
    [LIMIT_GROUPS_LIKE, 2],
  ])('%j has entries', (text, entries) => {
    expect(limitGroupsOf(text)).toHaveLength(entries);
  });

  it.each([
    'batch',
    'nodes=3',
    'batch nodes=many',
    'batch nodes=-1',
    'batch pods=3',
    'batch price=1e3',
    'batch nodes=3 for 2h',
    'batch nodes=3 from @daily',
    'batch nodes=3 from 0 25 * * * for 2h',
    'batch nodes=3 from @daily for two hours',
    'batch nodes=3, all nodes=4',
  ])('%j is refused', (text) => {
    expect(limitGroupsOf(text)).toBeUndefined();
  });

  const pools = [inGroup('a', 'batch'), inGroup('b', 'batch'), poolOf('c')];

  it.each([
    ['12:00', 'batch nodes=9 cpu=4', [['batch', ['a', 'b'], { nodes: 9, cpu: 4000 }]]],
    ['12:00', 'all nodes=9', [['all', ['a', 'b', 'c'], { nodes: 9 }]]],
    ['12:00', 'batch price=0.1', [['batch', ['a', 'b'], { [PRICE]: 100_000 }]]],
    ['12:00', 'other nodes=9', []],
    [
      '17:59',
      'batch nodes=9; batch nodes=2 from 0 18 * * 1 for 2h',
      [['batch', ['a', 'b'], { nodes: 9 }]],
    ],
    [
      '18:00',
      'batch nodes=9; batch nodes=2 from 0 18 * * 1 for 2h',
      [['batch', ['a', 'b'], { nodes: 2 }]],
    ],
    [
      '18:00',
      'batch nodes=1 cpu=4; batch nodes=2 cpu=1 from 0 18 * * 1 for 2h',
      [['batch', ['a', 'b'], { nodes: 1, cpu: 1000 }]],
    ],
    ['20:00', 'batch nodes=2 from 0 18 * * 1 for 2h', []],
  ])('at %s %j', (time, text, expected) => {
    const found = capsAt(groupsOf(text), pools, at(time));
    expect(found.map((each) => [each.group, each.pools, each.caps])).toEqual(expected);
  });

  it('of a name that nobody has defined are a fault of the NodePool', () => {
    expect(unknownGroup(inGroup('a', 'batch'), groupsOf('bach nodes=3'))).toContain('"batch"');
    expect(unknownGroup(inGroup('a', 'batch'), groupsOf('batch nodes=3'))).toBeUndefined();
    expect(unknownGroup(poolOf('a'), [])).toBeUndefined();
  });
});

describe('what a group leaves', () => {
  const caps = capsAt(groupsOf('batch nodes=9 cpu=100 price=10'), [inGroup('a', 'batch')], 0);
  const [largest] = [...FAMILY].sort((x, y) => (y.capacity['cpu'] ?? 0) - (x.capacity['cpu'] ?? 0));
  const most = largest?.capacity['cpu'] ?? 0;
  const dearest = Math.max(
    ...FAMILY.flatMap(({ offerings }) => offerings.map(({ price }) => price)),
  );

  const labels = { 'karpenter.sh/nodepool': 'a' };
  const launched = { labels, providerId: 'aws:///i-1', capacity: { cpu: 4000 } };

  it.each([
    ['launched', { ...launched, annotations: { [PRICE]: '0.25' } }, 4000, 0.25],
    ['that drains', { ...launched, annotations: { [PRICE]: '0.25' }, deletedAtMs: 1 }, 4000, 0.25],
    ['launched, of unknown price', launched, 4000, dearest],
    ['without a plan', { labels }, most, dearest],
    [
      'planned',
      {
        labels,
        annotations: {
          'joiner.dev/plan': JSON.stringify({ capacity: { cpu: '8', [PRICE]: '300000' } }),
        },
      },
      8000,
      0.3,
    ],
  ])('counts a NodeClaim %s', (_, claim, cpu, price) => {
    const snapshot = withGroupCaps(
      snapshotOf({
        types: FAMILY,
        nodePools: [inGroup('a', 'batch')],
        nodeClaims: [claimOf('one', claim)],
      }),
      caps,
    );
    expect(groupRooms(snapshot)[0]?.left).toEqual({
      nodes: 8,
      cpu: 100_000 - cpu,
      [PRICE]: 10_000_000 - Math.round(price * 1_000_000),
    });
  });
});

it('no plan exceeds a cap with any of the types that its NodeClaims allow', () => {
  const requested = fc.record({
    cpu: fc.constantFrom(200, 900, 1500, 3000, 6000),
    count: fc.integer({ min: 1, max: 6 }),
    pool: fc.constantFrom(undefined, 'a', 'b'),
  });
  const capped = fc.record({
    nodes: fc.integer({ min: 0, max: 4 }),
    cpu: fc.integer({ min: 0, max: 40 }),
    price: fc.integer({ min: 0, max: 20 }).map((tenths) => tenths / 10),
  });
  let refused = 0;
  let launched = 0;
  fc.assert(
    fc.property(fc.array(requested, { minLength: 1, maxLength: 4 }), capped, (wanted, cap) => {
      const nodePools = [
        inGroup('a', 'batch'),
        poolOf('b', { annotations: { [GROUP]: 'batch' }, limits: { cpu: 20_000 } }),
      ];
      const pods = wanted.flatMap(({ cpu, count, pool }, place) =>
        Array.from({ length: count }, (_, each) =>
          podOf(`p${place}-${each}`, {
            cpu,
            ...(pool === undefined ? {} : { nodeSelector: { 'karpenter.sh/nodepool': pool } }),
          }),
        ),
      );
      const text = `batch nodes=${cap.nodes} cpu=${cap.cpu} price=${cap.price}`;
      const snapshot = withGroupCaps(
        snapshotOf({ types: FAMILY, nodePools, pods }),
        capsAt(groupsOf(text), nodePools, 0),
      );
      const plan = solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
      const mostOf = (of: (type: (typeof FAMILY)[number]) => number): number =>
        plan.newNodeClaims.reduce((sum, { instanceTypes }) => {
          const types = FAMILY.filter(({ name }) => instanceTypes.includes(name));
          return sum + Math.max(...types.map(of));
        }, 0);
      expect(plan.newNodeClaims.length).toBeLessThanOrEqual(cap.nodes);
      expect(mostOf(({ capacity }) => capacity['cpu'] ?? 0)).toBeLessThanOrEqual(cap.cpu * 1000);
      const price = mostOf(({ offerings }) => Math.max(...offerings.map((each) => each.price)));
      expect(price).toBeLessThanOrEqual(cap.price + 1e-9);
      const said = [...plan.unplaced.values()].map(({ message }) => message).join();
      if (said.includes('limit group batch')) refused += 1;
      launched += plan.newNodeClaims.length;
    }),
    { numRuns: 150, seed: 3 },
  );
  expect(refused).toBeGreaterThan(30);
  expect(launched).toBeGreaterThan(60);
});
