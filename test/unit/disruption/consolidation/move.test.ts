import { describe, expect, it } from 'vitest';
import { type Reason, reason } from '../../../../shared/core/explain/reason.ts';
import {
  CONSOLIDATION_GUARD,
  FAKE_POD,
  INITIALIZED,
  INSTANCE_TYPE,
} from '../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../../shared/core/model/snapshot.ts';
import { type Cluster, clusterOf } from '../../../builders/consolidation.ts';
import {
  cpuPod,
  type MoveCase,
  moved,
  ON_DEMAND,
  tried,
  used,
  withSnapshot,
} from '../../../builders/moves.ts';
import { FAMILY, poolOf, typeOf } from '../../../builders/scheduling.ts';

const HOUR = 3_600_000;

/** `a` is larger than it has to be. */
const oversized = (rest: Parameters<typeof clusterOf>[1] = {}): Cluster =>
  clusterOf([used('a', 'm.4xlarge', cpuPod('p', 900))], { types: ON_DEMAND, ...rest });

/** The pod of `a` fits on `b`. */
const spare = (rest: Parameters<typeof clusterOf>[1] = {}): Cluster =>
  clusterOf([used('a', 'm.large', cpuPod('p', 900)), used('b', 'm.large', cpuPod('q', 900))], {
    types: ON_DEMAND,
    ...rest,
  });

/** The pod of `a` fits on `b`, and one that has no node on `a` alone. */
const withRoom = (waiting: Pod): Cluster =>
  clusterOf([used('a', 'm.4xlarge', cpuPod('p', 400)), used('b', 'm.large', cpuPod('q', 1500))], {
    types: ON_DEMAND,
    pods: [waiting],
  });

/** The node `b` is not initialised. */
function starting(cluster: Cluster): Cluster {
  const { nodes, nodeClaims } = cluster.snapshot;
  return withSnapshot(cluster, {
    nodes: nodes.map((node) =>
      node.name === 'b' ? { ...node, labels: { ...node.labels, [INITIALIZED]: 'false' } } : node,
    ),
    nodeClaims: nodeClaims.map((claim) =>
      claim.nodeName === 'b' ? { ...claim, conditions: [] } : claim,
    ),
  });
}

/** Pods that wait for room which only the node has. */
function onlyOn(cluster: Cluster, node: string, ...names: readonly string[]): Cluster {
  const { nodes, pods } = cluster.snapshot;
  const waiting = names.map((name, at) => ({
    ...cpuPod(name, 100 - at, { nodeSelector: { disk: 'large' } }),
    uid: `uid-${9 - at}`,
  }));
  return withSnapshot(cluster, {
    nodes: nodes.map((each) =>
      each.name === node ? { ...each, labels: { ...each.labels, disk: 'large' } } : each,
    ),
    pods: [...pods, ...waiting],
  });
}

const usd = (amount: number) => ({ amount, currency: 'USD' as const });

/** 1,000 + 1,000 and 800 + 600 + 600 fill two nodes; kube-scheduler binds them otherwise. */
const tight = (name: string, times = 1): readonly Pod[] =>
  [1000, 1000, 800, 600, 600].map((cpu, at) => cpuPod(`${name}${at}`, cpu * times));

/** `a` costs so much, and its pods fill what is left on `b` and `c`. */
const tightHosts = (price: number): Cluster =>
  clusterOf([used('a', 'old', ...tight('p')), used('b', 'm.large'), used('c', 'm.large')], {
    types: [...ON_DEMAND, typeOf('old', 4, 16, price)],
  });

/** `a` costs so much; sizes that are larger cost more for a CPU, and are easier to fill. */
const tightNew = (price: number, times = 1): Cluster =>
  clusterOf([used('a', 'old', ...tight('p', times))], {
    types: [
      typeOf('s', 2, 8, 0.1),
      typeOf('l', 4, 16, 0.205),
      typeOf('xl', 8, 32, 0.43),
      typeOf('old', 8, 32, price),
    ],
  });

const atNodePrice = (nodePrice: number) => ({
  scheduling: { ...DEFAULT_SCHEDULING_SETTINGS, nodePrice },
});

const general = poolOf('general');
const guarded = (text: string) => [
  poolOf('general', { annotations: { [CONSOLIDATION_GUARD]: text } }),
];
const balanced = () => [
  {
    ...general,
    disruption: { ...general.disruption, consolidationPolicy: 'Balanced' as const },
  },
];

/** The nodes of the names have drifted. */
const drifted = ({ snapshot, usages }: Cluster, ...names: readonly string[]): Cluster => ({
  snapshot,
  usages: usages.map((each) => ({ ...each, isDrifted: names.includes(each.node.name) })),
});

/** One smaller node would do for `a` and `b`. */
const pair = (): Cluster =>
  clusterOf(
    ['a', 'b'].map((name) => used(name, 'm.xlarge', cpuPod(`p-${name}`, 900))),
    {
      types: ON_DEMAND,
    },
  );

describe('nodes stay', () => {
  it('or go by one plan where kube-scheduler leaves no pod over', () => {
    expect(tried({ cluster: oversized() })).toMatchObject({ found: { kind: 'move' }, plans: 1 });
  });

  it.each<[string, () => MoveCase, () => Reason]>([
    [
      'where the room is on a node that still starts',
      () => ({ cluster: starting(spare()) }),
      () => reason('host-still-starts', { node: 'b' }),
    ],
    [
      'where a pod of theirs would wait',
      () => ({ cluster: oversized({ pools: [poolOf('general', { replicas: 1 })] }) }),
      () => {
        const why = 'NodePool general: 4 types → cause: 0 after the NodePool, which is static';
        return reason('pod-would-wait', { pod: 'default/p', why });
      },
    ],
    [
      'where a pod that had a place would wait, the first by name',
      () => ({ cluster: onlyOn(oversized(), 'a', 'z', 'x', 'y') }),
      () => reason('pod-would-wait', { pod: 'default/x', why: '' }),
    ],
    [
      'where pods that had a place would need a node of their own',
      () => ({ cluster: withRoom(cpuPod('waits', 1600)) }),
      () => reason('pending-pods-need-node', {}),
    ],
    [
      'where nothing cheaper does',
      () => ({
        cluster: clusterOf([used('a', 'm.large', cpuPod('p', 900))], { types: ON_DEMAND }),
      }),
      () => reason('pods-not-cheaper', { closed: 0 }),
    ],
    [
      'where all that is cheaper takes nothing in',
      () => ({
        cluster: withSnapshot(spare(), { closedNodes: new Set(['b']) }),
      }),
      () => reason('pods-not-cheaper', { closed: 1 }),
    ],
    [
      'where it would not repay the evictions',
      () => ({ cluster: spare(), settings: { horizonMs: 2 * HOUR, evictionPrice: 0.2 } }),
      () => reason('move-does-not-pay', { saving: usd(0.1), cost: usd(0.2), hours: 2 }),
    ],
    [
      'where their NodePool wants to save more',
      () => ({ cluster: spare({ pools: guarded('saving=0.2') }) }),
      () => reason('guard-saving', { nodePool: 'general', saving: usd(0.1), asked: usd(0.2) }),
    ],
    [
      'where it disrupts more than it saves by the policy Balanced',
      () => ({
        cluster: spare({ pools: balanced() }),
        pools: new Map([['general', { pricePerHour: 100, disruption: 4 }]]),
      }),
      () => reason('policy-balanced', {}),
    ],
    [
      'where drift would replace one of them',
      () => ({ cluster: drifted(pair(), 'a'), gone: ['a', 'b'] }),
      () => reason('drift-comes-first', {}),
    ],
    [
      'where two spot nodes would become one without the gate',
      () => ({
        cluster: clusterOf(
          ['a', 'b'].map((name) => ({
            ...used(name, 'm.xlarge', cpuPod(`p-${name}`, 900)),
            capacityType: 'spot',
          })),
          { types: FAMILY },
        ),
        gone: ['a', 'b'],
      }),
      () => reason('spot-to-spot-off', {}),
    ],
    [
      'where too few types would repay it',
      () => {
        const key = INSTANCE_TYPE;
        const wanted = { key, operator: 'Exists' as const, values: [], minValues: 4 };
        return { cluster: oversized({ pools: [poolOf('general', { requirements: [wanted] })] }) };
      },
      () => reason('cheaper-types-too-few', {}),
    ],
  ])('%s', (_, given, why) => {
    expect(tried(given())).toEqual({
      found: { kind: 'refusal', reasons: [why()] },
      plans: 1,
      isCutShort: false,
    });
  });
});

describe('nodes go', () => {
  it('though pods wait that had no place before', () => {
    const cluster = onlyOn(oversized(), 'a', 'x', 'y');
    const waiting = new Set(['default/x', 'default/y']);
    expect(moved({ cluster, waiting }).replacements).toHaveLength(1);
    const one = new Set(['default/x']);
    expect(tried({ cluster, waiting: one }).found).toMatchObject({
      reasons: [{ parameters: { pod: 'default/y' } }],
    });
  });

  it('though they have drifted, where nothing is launched for them', () => {
    const cluster = drifted(spare(), 'a');
    expect(moved({ cluster }).elsewhere).toEqual(new Map([['default/p', 'b']]));
  });

  it('without pods that end already, though a StatefulSet makes them anew', () => {
    const { snapshot, usages } = spare();
    const controller = { kind: 'StatefulSet', name: 'db', uid: 'db' };
    const ending = { ...cpuPod('db-0', 100), nodeName: 'a', deletedAtMs: 1, controller };
    const cluster = {
      snapshot: { ...snapshot, pods: [...snapshot.pods, ending] },
      usages: usages.map((each) =>
        each.node.name === 'a' ? { ...each, pods: [...each.pods, ending] } : each,
      ),
    };
    expect(moved({ cluster }).elsewhere).toEqual(new Map([['default/p', 'b']]));
  });

  it('where a pod that waits goes along with theirs', () => {
    const { snapshot, usages } = oversized();
    const pods = [...snapshot.pods, cpuPod('waits', 1000)];
    const [claim] = moved({ cluster: withSnapshot({ snapshot, usages }, { pods }) }).replacements;
    expect(claim?.pods).toEqual(['default/p', 'default/waits']);
  });

  it('where what is launched is room that a CapacityBuffer keeps', () => {
    const room = { ...cpuPod('room', 1600), annotations: { [FAKE_POD]: 'true' } };
    const { replacements, elsewhere } = moved({ cluster: withRoom(room) });
    expect(replacements.map(({ pods }) => pods)).toEqual([['default/room']]);
    expect(elsewhere).toEqual(new Map([['default/p', 'b']]));
  });

  it('with what that brings, and all that it needs', () => {
    const wide = cpuPod('wide', 2000);
    const cluster = clusterOf(
      [used('a', 'm.4xlarge', cpuPod('p', 900), wide), used('b', 'm.large')],
      { types: ON_DEMAND },
    );
    const found = moved({ cluster, settings: { horizonMs: HOUR, evictionPrice: 0.06 } });
    const { replacements, balance, gain, ...rest } = found;
    expect(rest).toEqual({
      kind: 'move',
      nodes: cluster.usages.slice(0, 1),
      needs: [new Set([0])],
      elsewhere: new Map([['default/wide', 'b']]),
      evictionOrder: undefined,
    });
    expect(replacements.map(({ pods }) => pods)).toEqual([['default/p']]);
    // Two evictions, and five minutes of both nodes.
    const cost = 2 * 0.06 + 0.1 / 12;
    expect(balance.saving).toBeCloseTo(0.7, 9);
    expect(balance.cost).toBeCloseTo(cost, 9);
    expect(gain).toBeCloseTo(0.7 - cost, 9);
  });
});

describe('plans that kube-scheduler may leave pods over of', () => {
  const refused = { kind: 'refusal', reasons: [reason('pods-left-over', {})] };

  it.each<[string, () => MoveCase, number]>([
    ['each with a higher price for a node', () => ({ cluster: tightHosts(0.1) }), 8],
    [
      'those with higher prices than the setting',
      () => ({ cluster: tightHosts(0.1), ...atNodePrice(0.01) }),
      7,
    ],
    [
      'the one with the highest price',
      () => ({ cluster: tightHosts(0.1), ...atNodePrice(0.32) }),
      2,
    ],
    ['none beyond that', () => ({ cluster: tightHosts(0.1), ...atNodePrice(3) }), 1],
    [
      'all where the looser ones do not pay back',
      () => ({ cluster: tightNew(0.206), settings: { evictionPrice: 0 } }),
      8,
    ],
  ])('are refused after others were tried: %s', (_, given, plans) => {
    expect(tried(given())).toEqual({ found: refused, plans, isCutShort: false });
  });

  it.each([
    [1, 1, true],
    [3, 3, true],
    [7, 7, true],
    [8, 8, false],
    [20, 8, false],
  ])('are refused after %d plans where no more may be made', (plansMax, plans, isCutShort) => {
    const given = { cluster: tightHosts(0.1), plansMax };
    expect(tried(given)).toEqual({ found: refused, plans, isCutShort });
  });

  it('give way to the loosest one where only one more may be made', () => {
    const { found, plans } = tried({ cluster: tightNew(0.8, 2), plansMax: 2 });
    expect(found).toMatchObject({ kind: 'move' });
    expect(plans).toBe(2);
  });

  it('are moves where they pay back even so, if none is looser', () => {
    const { found, plans } = tried({ cluster: tightHosts(0.13) });
    expect(found).toMatchObject({ kind: 'move', replacements: [] });
    expect(plans).toBe(8);
  });

  it.each<[string, () => MoveCase, readonly string[], number]>([
    ['where the first would not pay back', () => ({ cluster: tightNew(0.28) }), ['l'], 2],
    ['where the first would', () => ({ cluster: tightNew(0.4) }), ['l'], 2],
    ['that is not tight itself', () => ({ cluster: tightNew(0.8, 2) }), ['xl'], 3],
    [
      'but not where the setting is as loose',
      () => ({ cluster: tightNew(0.4), ...atNodePrice(0.01) }),
      ['l'],
      1,
    ],
  ])('give way to a looser one %s', (_, given, types, plans) => {
    const { found, plans: made } = tried(given());
    const launched = found.kind === 'move' ? found.replacements : [];
    expect(launched.map(({ chosen }) => chosen.type)).toEqual(types);
    expect(made).toBe(plans);
  });
});
