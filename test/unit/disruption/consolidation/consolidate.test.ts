import { describe, expect, it } from 'vitest';
import { consolidate } from '../../../../shared/core/disruption/consolidation/consolidate.ts';
import type { Move } from '../../../../shared/core/disruption/consolidation/move.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  LIMITS_GUARD,
} from '../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import {
  type Cluster,
  clusterOf,
  consolidationOf,
  type Used,
} from '../../../builders/consolidation.ts';
import { FAMILY, GI, podOf, podsOf, poolOf, typeOf } from '../../../builders/scheduling.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** One small pod, on a node as it is by default. */
const small = (name: string, type: string, rest: Partial<Used> = {}): Used => ({
  name,
  type,
  pods: [podOf(`pod-${name}`, { cpu: 900 })],
  ...rest,
});

const namesOf = (moves: readonly Move[]): readonly string[][] =>
  moves.map(({ nodes }) => nodes.map(({ node }) => node.name).sort());

type Options = Parameters<typeof consolidationOf>[1];

const movesOf = (cluster: Cluster, options?: Options): readonly Move[] =>
  consolidate(consolidationOf(cluster, options)).moves;

describe('a move pays back', () => {
  it.each([
    ['in four hours', 4 * HOUR, 1],
    ['not in a minute', MINUTE, 0],
    ['not in no time', 0, 0],
  ])('%s', (_, horizonMs, count) => {
    const pods = podsOf(5, 'p', { cpu: 100 });
    const cluster = clusterOf([{ name: 'a', type: 'm.large', pods }, small('b', 'm.large')]);
    const moves = movesOf(cluster, { settings: { horizonMs } });
    expect(moves).toHaveLength(count);
  });
});

it('a node goes into a reservation, which is paid for, though its list price is higher', () => {
  const base = typeOf('m5.xlarge', 4, 16, 0.192);
  const reservation = { id: 'cr-1', type: 'default', capacity: 1, interruptible: false } as const;
  const reserved = base.offerings
    .slice(0, 1)
    .map((each) => ({ ...each, capacityType: 'reserved' as const, price: 2e-8, reservation }));
  const types = [
    typeOf('m5.large', 2, 8, 0.096),
    { ...base, offerings: [...base.offerings, ...reserved] },
  ];
  const [move] = movesOf(clusterOf([small('a', 'm5.large')], { types }));
  expect(move?.replacements.map(({ chosen }) => chosen.reservationId)).toEqual(['cr-1']);
});

describe('nodes whose pods fit on others', () => {
  const types = [typeOf('m.large', 2, 8, 0.1)];
  const at = (nodes: readonly Used[], pods: readonly Pod[] = []) =>
    clusterOf(nodes, { types, pods });
  const two = [small('a', 'm.large'), small('b', 'm.large')];

  it('go without anything new', () => {
    const [move] = movesOf(at(two));
    expect(move?.replacements).toEqual([]);
    expect([...(move?.elsewhere.values() ?? [])]).toHaveLength(1);
  });

  it.each<[string, Cluster, Options]>([
    ['where nothing may go', at(two), { allowance: new Map() }],
    [
      'where the others take none in',
      at(two),
      { candidates: at(two).usages.slice(0, 1), quiet: new Set(['b']) },
    ],
    ['where no plan may be made', at(two), { plansMax: 1 }],
    ['where pods wait for a new node', at(two, [podOf('waits', { cpu: 1500 })]), {}],
    [
      'where it is known that they stay',
      at(two),
      {
        known: new Map(
          ['claim-a', 'claim-b', 'claim-a,claim-b'].map((key) => [
            key,
            [reason('policy-balanced', {})],
          ]),
        ),
      },
    ],
  ])('stay %s', (_, cluster, options) => {
    expect(movesOf(cluster, options)).toEqual([]);
  });

  it('go though a pod waits that nothing can be launched for', () => {
    const pods = [podOf('hopeless', { cpu: 400_000 })];
    expect(movesOf(at(two, pods))).toHaveLength(1);
  });

  it('count once: of two with room for one only one goes', () => {
    const full = small('c', 'm.large', { pods: [podOf('c', { cpu: 1000 })] });
    const cluster = at([...two, full]);
    const gone = namesOf(movesOf(cluster)).flat();
    expect(gone).toHaveLength(1);
  });
});

describe('pods that fit on others only one after the other', () => {
  const types = [typeOf('m.large', 2, 8, 0.1), typeOf('m.xlarge', 4, 16, 0.2)];
  const owned = (name: string, cpu: number): Pod =>
    podOf(name, { cpu, memory: GI }, { controller: { kind: 'ReplicaSet', name, uid: name } });
  // kube-scheduler prefers the room that only the large pod needs.
  const movesOfFirst = (pods: readonly Pod[]): readonly Move[] => {
    const cluster = clusterOf(
      [
        { name: 'a', type: 'm.xlarge', pods },
        { name: 'b', type: 'm.xlarge', pods: [owned('other', 2000)] },
        { name: 'c', type: 'm.large', pods: [owned('another', 1000)] },
      ],
      { types },
    );
    const candidates = cluster.usages.filter(({ node }) => node.name === 'a');
    return movesOf(cluster, { candidates });
  };

  it('are evicted in the order in which each finds its place', () => {
    const [move] = movesOfFirst([owned('small', 500), owned('large', 2000)]);
    expect(move?.replacements).toEqual([]);
    expect(move?.elsewhere.get('default/large')).toBe('b');
    expect(move?.evictionOrder).toEqual(['large', 'small']);
  });

  it('are named themselves where they have one owner', () => {
    const owner = { controller: { kind: 'ReplicaSet', name: 'web', uid: 'web' } };
    const one = (name: string, cpu: number): Pod => podOf(name, { cpu, memory: GI }, owner);
    const moves = movesOfFirst([one('small', 500), one('large', 2000)]);
    expect(moves.map(({ evictionOrder }) => evictionOrder)).toEqual([
      ['uid-large', 'uid-small', 'web'],
    ]);
  });

  it('are evicted at once where that does', () => {
    const roomy = clusterOf(
      [
        { name: 'a', type: 'm.xlarge', pods: [owned('small', 500), owned('large', 2000)] },
        { name: 'b', type: 'm.xlarge', pods: [owned('other', 1000)] },
      ],
      { types },
    );
    const [move] = movesOf(roomy, {
      candidates: roomy.usages.filter(({ node }) => node.name === 'a'),
    });
    expect(move?.evictionOrder).toBeUndefined();
    expect(move?.nodes).toHaveLength(1);
  });
});

describe('nodes whose pods need cheaper ones', () => {
  const wide = [small('a', 'm.4xlarge'), small('b', 'm.4xlarge')];

  it('are replaced by one, which may only be a type that pays', () => {
    const [move, ...others] = movesOf(clusterOf(wide));
    expect(others).toEqual([]);
    expect(namesOf(move === undefined ? [] : [move])).toEqual([['a', 'b']]);
    const [claim, ...more] = move?.replacements ?? [];
    expect(more).toEqual([]);
    expect(claim?.chosen).toMatchObject({ type: 'm.large', capacityType: 'spot' });
    const values = new Map(claim?.requirements.map((each) => [each.key, each.values]));
    expect(values.get(CAPACITY_TYPE)).toEqual(['spot']);
    expect(values.get(INSTANCE_TYPE)).toEqual(claim?.instanceTypes);
    const spot = 0.4;
    const prices = claim?.instanceTypes.map(
      (name) => spot * (FAMILY.find((each) => each.name === name)?.offerings[0]?.price ?? 0),
    );
    for (const price of prices ?? []) expect(1.6 - price).toBeGreaterThan(0);
  });

  it.each([
    ['stay on spot without the gate', false, FAMILY.length, 0],
    ['stay on spot where few types are cheaper', true, 10, 0],
    ['go on spot where many types are cheaper', true, 20, 1],
  ])('%s', (_, spotToSpot, count, expected) => {
    const like = Array.from({ length: count }, (_each, at) =>
      typeOf(`t${String(at).padStart(2, '0')}.large`, 2, 8, 0.1 + at / 1000, { spot: true }),
    );
    const types = [...like, typeOf('z.4xlarge', 16, 64, 0.8, { spot: true })];
    const node = small('a', 'z.4xlarge', { capacityType: 'spot' });
    const [move] = movesOf(clusterOf([node], { types }), { settings: { spotToSpot } });
    expect(move === undefined ? 0 : 1).toBe(expected);
    if (expected === 1) expect(move?.replacements[0]?.instanceTypes).toHaveLength(15);
  });

  it('stay where their NodePool wants more types than pay', () => {
    const requirements = [
      { key: INSTANCE_TYPE, operator: 'Exists' as const, values: [], minValues: 4 },
      { key: CAPACITY_TYPE, operator: 'In' as const, values: ['on-demand'] },
    ];
    const cluster = (minValues: number) =>
      clusterOf([small('a', 'm.2xlarge')], {
        pools: [
          poolOf('general', {
            requirements: requirements.map((each) =>
              each.key === INSTANCE_TYPE ? { ...each, minValues } : each,
            ),
          }),
        ],
      });
    expect(movesOf(cluster(4))).toEqual([]);
    expect(movesOf(cluster(2))).toHaveLength(1);
  });
});

describe('the guard on limits', () => {
  const guarded = (text: string): NodePool =>
    poolOf('general', { annotations: { [LIMITS_GUARD]: text } });
  const limited = (name: string): Used =>
    small(name, 'm.large', {
      pods: [podOf(name, { cpu: 500, limits: { cpu: 3000, memory: 2 * GI } })],
    });

  it.each([
    ['cpu=3', 1],
    ['cpu=2.9', 0],
    ['memory=0.5', 1],
    ['memory=0.4', 0],
    ['cpu=3,memory=0.4', 0],
    ['nvidia.com/gpu=1', 1],
  ])('%s', (text, expected) => {
    const cluster = clusterOf([limited('a'), limited('b')], { pools: [guarded(text)] });
    expect(movesOf(cluster)).toHaveLength(expected);
  });
});
