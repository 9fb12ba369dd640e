import { describe, expect, it } from 'vitest';
import { consolidate } from '../../../shared/core/disruption/consolidation/consolidate.ts';
import { evictionCost } from '../../../shared/core/disruption/consolidation/eviction-cost.ts';
import {
  fingerprint,
  hasSameTypes,
} from '../../../shared/core/disruption/consolidation/fingerprint.ts';
import { limitsGuardOf } from '../../../shared/core/disruption/consolidation/limits-guard.ts';
import type { Move } from '../../../shared/core/disruption/consolidation/move.ts';
import {
  balanceOf,
  DEFAULT_CONSOLIDATION_SETTINGS,
  gainOf,
  isBalanced,
  paybackMs,
} from '../../../shared/core/disruption/consolidation/payback.ts';
import { reason } from '../../../shared/core/explain/reason.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, LIMITS_GUARD } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../../shared/core/model/snapshot.ts';
import {
  type Cluster,
  clusterOf,
  consolidationOf,
  poolUses,
  type Used,
} from '../../builders/consolidation.ts';
import {
  claimOf,
  FAMILY,
  GI,
  podOf,
  podsOf,
  poolOf,
  snapshotOf,
  typeOf,
  yes,
} from '../../builders/scheduling.ts';

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

describe('what the eviction of a pod counts as', () => {
  it.each<[string, number, Pod]>([
    ['1', 1, podOf('a')],
    ['more by its priority', 2, podOf('a', { priority: 2 ** 25 })],
    ['10 at most', 10, podOf('a', { priority: 2_000_000_000 })],
    ['less by its deletion cost', 0, costing(String(-(2 ** 27)))],
    ['-10 at least', -10, costing(String(-(2 ** 40)))],
    ['1 where that cannot be read', 1, costing('much')],
  ])('%s', (_, expected, pod) => {
    expect(evictionCost(pod)).toBeCloseTo(expected, 6);
  });

  function costing(cost: string): Pod {
    const annotations = { 'controller.kubernetes.io/pod-deletion-cost': cost };
    return podOf('a', {}, { annotations });
  }
});

describe('a move pays back', () => {
  const { usages } = clusterOf([small('a', 'm.xlarge')]);

  it('where what it saves has paid for the evictions within the horizon', () => {
    const balance = balanceOf(usages, 0, DEFAULT_CONSOLIDATION_SETTINGS);
    expect(balance).toEqual({ saving: 0.2, cost: 0.02 });
    expect(paybackMs(balance)).toBeCloseTo(0.1 * HOUR, 6);
    expect(gainOf(balance, DEFAULT_CONSOLIDATION_SETTINGS)).toBeCloseTo(0.78, 9);
  });

  it('never where it saves nothing', () => {
    expect(paybackMs({ saving: 0, cost: 0 })).toBe(Number.POSITIVE_INFINITY);
    expect(gainOf({ saving: 0, cost: 0 }, DEFAULT_CONSOLIDATION_SETTINGS)).toBe(0);
  });

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

describe('the policy Balanced', () => {
  const balanced = (name: string): NodePool => {
    const pool = poolOf(name);
    return { ...pool, disruption: { ...pool.disruption, consolidationPolicy: 'Balanced' } };
  };
  const of = (saving: number, pods: number, pool = balanced('general')) => {
    const many = podsOf(pods, 'many', { cpu: 10 });
    const { usages } = clusterOf(
      [
        { name: 'a', type: 'm.large', pods: many },
        { name: 'b', type: 'm.large', pods: podsOf(9, 'others', { cpu: 10 }) },
      ],
      { pools: [pool] },
    );
    return isBalanced(usages.slice(0, 1), { saving, cost: 0 }, poolUses(usages));
  };

  it.each([
    ['half of the price for half of the disruption', 0.1, 9, true],
    ['a quarter of it for half of the disruption', 0.05, 9, true],
    ['less than that', 0.049, 9, false],
    ['little for few pods', 0.02, 1, true],
  ])('%s', (_, saving, pods, expected) => {
    expect(of(saving, pods)).toBe(expected);
  });

  it('is not asked for by other policies', () => {
    expect(of(0.001, 9, poolOf('general'))).toBe(true);
  });
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
            reason('policy-balanced', {}),
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

  it.each(['much', 'cpu', 'cpu=', 'cpu=0', 'cpu=-1', 'cpu=1,', 'cpu=1e3'])(
    '"%s" is refused',
    (text) => {
      expect(limitsGuardOf(guarded(text))).toEqual(
        reason('guard-unreadable', {
          annotation: 'joiner.dev/limits-guard',
          value: text,
          like: 'cpu=4,memory=1.2',
        }),
      );
    },
  );
});

describe('the text by which a cluster is known again', () => {
  const base = snapshotOf({
    pods: podsOf(2, 'p'),
    nodeClaims: [claimOf('a')],
    nodes: clusterOf([small('n', 'm.large')]).snapshot.nodes,
  });
  const pod = (change: Partial<Pod>): ClusterSnapshot => ({
    ...base,
    pods: base.pods.map((each, at) => (at === 0 ? { ...each, ...change } : each)),
  });
  const isKnown = (other: ClusterSnapshot): boolean =>
    fingerprint(other) === fingerprint(base) &&
    hasSameTypes(other.instanceTypes, base.instanceTypes);
  const no = {
    type: 'Ready',
    status: 'False',
    reason: 'No',
    message: '',
    lastTransitionAtMs: 0,
  } as const;
  const unready = { conditions: [no] };
  const [first] = FAMILY;
  const dearer = FAMILY.map((each) => ({
    ...each,
    offerings: each.offerings.map((one) => ({ ...one, price: one.price + 0.01 })),
  }));

  it.each<[string, ClusterSnapshot]>([
    ['a pod has gone', { ...base, pods: base.pods.slice(1) }],
    ['a pod is bound', pod({ nodeName: 'n' })],
    ['a pod begins to end', pod({ deletedAtMs: 1 })],
    ['a pod asks for more', pod({ spec: podOf('x', { cpu: 7 }).spec })],
    ['a pod has other labels', pod({ labels: { app: 'other' } })],
    ['prices change', { ...base, instanceTypes: new Map([['general', dearer]]) }],
    ['a type has gone', { ...base, instanceTypes: new Map([['general', first ? [first] : []]]) }],
    ['a NodePool is no longer ready', { ...base, nodePools: [poolOf('general', unready)] }],
    ['a limit is set', { ...base, nodePools: [poolOf('general', { limits: { cpu: 1 } })] }],
    ['a node is tainted', tainted()],
    [
      'a claim is initialised',
      { ...base, nodeClaims: [claimOf('a', { conditions: yes('Initialized') })] },
    ],
  ])('is another where %s', (_, changed) => {
    expect(isKnown(changed)).toBe(false);
  });

  function tainted(): ClusterSnapshot {
    const taints = [{ key: 'x', value: '', effect: 'NoSchedule' as const }];
    return { ...base, nodes: base.nodes.map((each) => ({ ...each, taints })) };
  }

  it('is the same in any order, and whenever things were seen', () => {
    const later = yes('Ready').map((each) => ({ ...each, lastTransitionAtMs: 9 }));
    const same = {
      ...base,
      pods: base.pods.toReversed(),
      nodes: base.nodes.map((each) => ({ ...each, conditions: later })),
      instanceTypes: new Map([...base.instanceTypes].map(([pool, types]) => [pool, [...types]])),
    };
    expect(isKnown(same)).toBe(true);
  });
});
