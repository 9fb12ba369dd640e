import { describe, expect, it } from 'vitest';
import {
  consolidate,
  plansFor,
} from '../../../../shared/core/disruption/consolidation/consolidate.ts';
import type { ConsolidationCandidate } from '../../../../shared/core/disruption/consolidation/payback.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import {
  type Cluster,
  clusterOf,
  consolidationOf,
  type Used,
} from '../../../builders/consolidation.ts';
import { looked, type Options, strictPool } from '../../../builders/looked.ts';
import { cpuPod, ON_DEMAND, used } from '../../../builders/moves.ts';
import { GI, podOf, poolOf, typeOf } from '../../../builders/scheduling.ts';

const BALANCED = reason('policy-balanced', {});

const names = (count: number): readonly string[] => [...'abcdefghij'].slice(0, count);

/** Nodes alike that all stay, listed from the last to the first. */
const stubborn = (count: number): Cluster => {
  const nodes = names(count).map(
    (name): Used => ({ ...used(name, 'm.4xlarge', cpuPod(`p-${name}`, 900)), pool: 'strict' }),
  );
  return clusterOf(nodes.toReversed(), { types: ON_DEMAND, pools: [strictPool()] });
};

describe('groups of nodes', () => {
  it('are all, the first half, each and neighbours, as long as there are plans', () => {
    expect(looked(stubborn(6), { plansMax: 100 })).toEqual({
      groups: [
        ...['abcdef', 'abc'],
        ...['a', 'b', 'c', 'd', 'e', 'f'],
        ...['ab', 'bc', 'cd', 'de', 'ef'],
        ...['abcd', 'bcde', 'cdef'],
      ],
      moves: [],
      plans: 17,
      isExhausted: true,
    });
  });

  it.each([
    [0, ['a', 'b', 'c', 'd', 'e']],
    [1, ['f', 'a', 'b', 'c', 'd']],
    [2, ['e', 'f', 'a', 'b', 'c']],
  ])('are others in each turn where there are few plans: %d', (turn, groups) => {
    expect(looked(stubborn(6), { plansMax: 8, turn })).toEqual({
      groups: ['abcdef', 'abc', ...groups],
      moves: [],
      plans: 8,
      isExhausted: false,
    });
  });

  it.each([
    [0, ['ab', 'bc', 'cd', 'de', 'ef']],
    [1, ['abcd', 'bcde', 'cdef', 'ab', 'bc']],
    [2, ['cd', 'de', 'ef', 'abcd', 'bcde']],
  ])('are neighbours once it is known that each stays: turn %d', (turn, groups) => {
    const known = new Map(names(6).map((name) => [`claim-${name}`, [BALANCED]]));
    expect(looked(stubborn(6), { plansMax: 8, turn, known }).groups).toEqual([
      ...names(6),
      ...['abcdef', 'abc'],
      ...groups,
    ]);
  });

  it('are shared by three orders where there are many plans', () => {
    const { groups, ...rest } = looked(stubborn(10), { plansMax: 24 });
    expect(rest).toEqual({ moves: [], plans: 22, isExhausted: false });
    expect(groups).toHaveLength(21);
  });

  it('are found out by one order after the other', () => {
    const { plans, isExhausted } = looked(stubborn(6), { plansMax: 24 });
    expect({ plans, isExhausted }).toEqual({ plans: 17, isExhausted: false });
  });

  it('are all known after few plans where there are few nodes', () => {
    const found = looked(stubborn(3), { plansMax: 10 });
    expect(found).toEqual({
      groups: ['abc', 'a', 'b', 'c', 'ab', 'bc'],
      moves: [],
      plans: 7,
      isExhausted: true,
    });
  });

  it('are none where what there is now takes the only plan', () => {
    const found = looked(stubborn(3), { plansMax: 1 });
    expect(found).toEqual({ groups: [], moves: [], plans: 1, isExhausted: false });
    expect(looked(stubborn(3), { plansMax: 1, asked: 'claim-c' })).toEqual(found);
  });

  it('are none without candidates', () => {
    const found = looked(stubborn(3), { candidates: [] });
    expect(found).toEqual({ groups: [], moves: [], plans: 0, isExhausted: true });
  });

  it('are none where pods wait for a new node', () => {
    const nodes = [used('a', 'm.large', cpuPod('p', 900)), used('b', 'm.large')];
    const pods = [cpuPod('waits', 15_000)];
    const found = looked(clusterOf(nodes, { types: ON_DEMAND, pods }), {});
    expect(found).toEqual({ groups: ['a', 'b'], moves: [], plans: 1, isExhausted: true });
  });

  it('are not looked at again where it is known that they stay', () => {
    const known = new Map(
      ['claim-a,claim-b', 'claim-b', 'claim-a'].map((key) => [key, [BALANCED]]),
    );
    const found = looked(stubborn(2), { known });
    expect(found).toEqual({ groups: ['ab', 'b', 'a'], moves: [], plans: 1, isExhausted: true });
  });

  it('take no plan where nothing could be saved', () => {
    const cluster = clusterOf([used('a', 'm.large', cpuPod('p', 2000))], { types: ON_DEMAND });
    const input = consolidationOf(cluster, { settings: { evictionPrice: 0 } });
    const { refusals, plans } = consolidate(input);
    expect(refusals).toEqual(new Map([['claim-a', [reason('pods-not-cheaper', { closed: 0 })]]]));
    expect(plans).toBe(1);
    // Half of the node would do, but evictions are dear.
    const pods = [1, 2, 3].map((each) => cpuPod(`p${each}`, 500));
    const small = clusterOf([used('a', 'm.xlarge', ...pods)], { types: ON_DEMAND });
    const dear = consolidate(consolidationOf(small, { settings: { evictionPrice: 10 } }));
    expect(dear.refusals).toEqual(new Map([['claim-a', [reason('saving-too-small', {})]]]));
    expect(dear.plans).toBe(1);
  });

  it('begin with the node that is asked about', () => {
    const first = (asked: string) => looked(stubborn(3), { plansMax: 2, asked }).groups;
    expect(first('claim-c')).toEqual(['c']);
    expect(first('claim-other')).toEqual(['abc']);
    expect(looked(stubborn(3), { plansMax: 4, asked: 'claim-b' })).toMatchObject({
      groups: ['b', 'abc', 'a'],
      plans: 4,
    });
  });
});

it.each([
  [1, 60],
  [833, 60],
  [834, 59],
  [5000, 10],
  [8333, 6],
  [100_000, 6],
])('a pass in a cluster of %d nodes makes %d plans', (nodes, plans) => {
  expect(plansFor(nodes)).toBe(plans);
});

/** `a`, `b` and `c` with prices of 0.8, 0.2 and 0.4, so many evictions, and a use of each. */
function unlike(costs: readonly number[], pool: string): Cluster {
  const { snapshot, usages } = clusterOf(
    [
      { ...used('a', 'm.4xlarge', cpuPod('p-a', 14_400)), pool },
      { ...used('b', 'm.xlarge', podOf('p-b', { cpu: 400, memory: 8 * GI })), pool },
      { ...used('c', 'm.2xlarge', cpuPod('p-c', 800)), pool },
      used('host', 'host'),
    ],
    { types: [...ON_DEMAND, typeOf('host', 64, 256, 9)], pools: [poolOf('general'), strictPool()] },
  );
  const changed = usages.map(
    (usage, at): ConsolidationCandidate => ({ ...usage, evictionCost: costs[at] ?? 0 }),
  );
  return { snapshot, usages: changed };
}

describe('the order of nodes', () => {
  const costs = [9, 1, 4.5];
  const options = (cluster: Cluster, rest: Options): Options => ({
    candidates: cluster.usages.slice(0, 3),
    settings: { evictionPrice: 0.001 },
    ...rest,
  });

  it.each([
    ['much money for few evictions', 0, ['ab', 'ac']],
    ['few evictions', 1, ['bc', 'ac']],
    ['much money for what nobody uses', 2, ['bc', 'ab']],
    ['again that of the first turn', 3, ['ab', 'ac']],
    ['again that of the second turn', 4, ['bc', 'ac']],
  ])('is %s', (_, turn, neighbours) => {
    const cluster = unlike(costs, 'strict');
    const { groups } = looked(cluster, options(cluster, { plansMax: 20, turn }));
    expect(groups.slice(0, 6)).toEqual(['abc', 'a', 'c', 'b', ...neighbours]);
  });

  it('is the first one of those that save as much', () => {
    const nodes = [used('b', 'm.xlarge', cpuPod('p-b', 3600)), used('c', 'm.xlarge')];
    const { snapshot, usages } = clusterOf([...nodes, used('host', 'host')], {
      types: [...ON_DEMAND, typeOf('host', 64, 256, 9)],
    });
    const candidates = usages.slice(0, 2).map((each, at) => ({ ...each, evictionCost: 1 + at }));
    const { moves } = looked(
      { snapshot, usages },
      { candidates, nodesMax: 1, settings: { evictionPrice: 0 } },
    );
    expect(moves).toEqual(['b']);
  });

  it.each([0, 1, 2])('does not matter for the one that saves most: turn %d', (turn) => {
    const cluster = unlike(costs, 'general');
    const found = looked(cluster, options(cluster, { plansMax: 20, nodesMax: 1, turn }));
    expect(found).toEqual({ groups: [], moves: ['a'], plans: 2, isExhausted: false });
  });
});

describe('nodes whose plan is too tight', () => {
  /** `a` is only left by a looser plan, which does not pay; `z` stays in any case. */
  const cluster = () => {
    const tight = [1000, 1000, 800, 600, 600].map((cpu, at) => cpuPod(`p${at}`, cpu));
    const nodes: readonly Used[] = [
      used('a', 'old', ...tight),
      { ...used('z', 'm.large', cpuPod('q', 1900)), pool: 'strict' },
      ...['b', 'c'].map((name) => used(name, 'm.large')),
    ];
    const types = [...ON_DEMAND, typeOf('old', 4, 16, 0.1)];
    const { usages, ...rest } = clusterOf(nodes, {
      types,
      pools: [poolOf('general'), strictPool()],
    });
    return { ...rest, usages: usages.filter(({ pods }) => pods.length > 0) };
  };

  it.each([3, 4, 7, 10])('take no more than %d plans, and are left to a later pass', (plansMax) => {
    const found = looked(cluster(), { plansMax });
    expect(found).toEqual({ groups: ['az', 'z'], moves: [], plans: plansMax, isExhausted: false });
  });

  it('are known to stay after all of their plans', () => {
    const found = looked(cluster(), { plansMax: 12 });
    expect(found).toEqual({ groups: ['az', 'z', 'a'], moves: [], plans: 11, isExhausted: true });
  });

  it('are known to stay after all plans of a pass', () => {
    const known = new Map([
      ['claim-a,claim-z', [BALANCED]],
      ['claim-z', [BALANCED]],
    ]);
    const found = looked(cluster(), { plansMax: 5, known });
    expect(found).toEqual({ groups: ['az', 'z', 'a'], moves: [], plans: 5, isExhausted: false });
  });
});
