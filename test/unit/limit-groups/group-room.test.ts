import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  groupRooms,
  mostOf,
  refusalBy,
  withGroupCaps,
} from '../../../shared/core/limit-groups/group-room.ts';
import {
  capsAt,
  type GroupCaps,
  limitGroupsOf,
} from '../../../shared/core/limit-groups/limit-groups.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { solve } from '../../../shared/core/scheduling/solve.ts';
import {
  claimOf,
  FAMILY,
  GI,
  podOf,
  podsOf,
  poolOf,
  snapshotOf,
  typeOf,
} from '../../builders/scheduling.ts';

const GROUP = 'joiner.dev/limit-group';
const PRICE = 'joiner.dev/price';
const inGroup = (name: string, group: string) => poolOf(name, { annotations: { [GROUP]: group } });
const groupsOf = (text: string) => limitGroupsOf(text) ?? [];

describe('the cap of a group', () => {
  it('is planned with as a limit of the NodePool itself', () => {
    const types = [2, 4, 8, 16, 32, 48, 64, 96].flatMap((cpu) => [
      typeOf(`m.${cpu}`, cpu, cpu * 4, cpu * 0.05),
      typeOf(`r.${cpu}`, cpu, cpu * 8, cpu * 0.06),
    ]);
    const pods = [
      ...podsOf(40, 'large', { requests: { cpu: 7000, memory: 8 * GI, pods: 1 } }),
      ...podsOf(200, 'small', { requests: { cpu: 500, memory: GI, pods: 1 } }),
    ];
    const plannedWith = (limits: Readonly<Record<string, number>>, groupCaps: GroupCaps[]) => {
      const nodePools = [poolOf('a', { limits })];
      const snapshot = { ...snapshotOf({ types, pods, nodePools }), groupCaps };
      const plan = solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
      const names = plan.newNodeClaims.map(({ instanceTypes }) => [...instanceTypes].join());
      return { names, left: [...plan.unplaced.keys()].sort() };
    };
    const caps = { cpu: 120_000 };
    const own = plannedWith(caps, []);
    expect(own.left.length).toBeGreaterThan(0);
    expect(plannedWith({}, [{ group: 'all', pools: ['a'], caps }])).toEqual(own);
  });
});

it('a cap of one NodePool leaves its pods to another that is like it', () => {
  const types = [typeOf('m.large', 2, 8, 0.1)];
  const pods = podsOf(3, 'web', { cpu: 1800 });
  const nodePools = [poolOf('a'), poolOf('b')];
  const groupCaps = [{ group: 'batch', pools: ['a'], caps: { cpu: 2000 } }];
  const snapshot = { ...snapshotOf({ types, pods, nodePools }), groupCaps };
  const plan = solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
  expect(plan.newNodeClaims.map(({ nodePool }) => nodePool)).toEqual(['a', 'b', 'b']);
});

it('a cap leaves smaller types that are dearer', () => {
  const types = [typeOf('m.large', 2, 8, 0.2), typeOf('m.xlarge', 4, 16, 0.1)];
  const groupCaps = [{ group: 'batch', pools: ['general'], caps: { cpu: 2000 } }];
  const snapshot = { ...snapshotOf({ types, pods: [podOf('web')] }), groupCaps };
  const plan = solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
  expect(plan.newNodeClaims.map(({ chosen }) => chosen.type)).toEqual(['m.large']);
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

it('a refusal names what is left of the caps that refuse', () => {
  const nodePools = [inGroup('a', 'batch')];
  const caps = capsAt(groupsOf('batch nodes=9 cpu=10 price=1'), nodePools, 0);
  const snapshot = withGroupCaps(snapshotOf({ types: FAMILY, nodePools }), caps);
  const rooms = groupRooms(snapshot);
  const [pool] = snapshot.nodePools;
  const most = pool === undefined ? {} : mostOf(pool, snapshot.instanceTypes.get('a') ?? []);
  expect(most).toMatchObject({ cpu: 16_000, [PRICE]: 800_000 });
  const refused = refusalBy(rooms, 'a', most, 'USD');
  expect(refused).toMatchObject({ parameters: { group: 'batch', left: ['10 of 10 cpu'] } });
  expect(refusalBy(rooms, 'a', { cpu: 10_000 }, 'USD')).toBeUndefined();
  expect(refusalBy(rooms, 'b', most, 'USD')).toBeUndefined();
});
