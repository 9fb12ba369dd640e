import { describe, expect, it } from 'vitest';
import { reason, sentence } from '../../../shared/core/explain/reason.ts';
import {
  impairedInstances,
  type SeenStatus,
  unhealthyNodes,
} from '../../../shared/core/lifecycle/repair.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';
import { aNode, aNodeClaim } from '../launch/builders.ts';

const MINUTE = 60_000;
const POOL = { 'karpenter.sh/nodepool': 'default' };

function condition(type: string, status: Condition['status']): Condition {
  return { type, status, reason: '', message: '', lastTransitionAtMs: 0 };
}

/** `unhealthy` of `all` nodes of one pool have the condition, since the beginning. */
function fleet(all: number, unhealthy: number, bad: Condition) {
  const ids = Array.from({ length: all }, (_, at) => `aws:///us-east-1a/i-0000000${at}`);
  const conditions = (at: number) => [at < unhealthy ? bad : condition('Ready', 'True')];
  return {
    claims: ids.map((providerId, at) => aNodeClaim({ uid: `c${at}`, providerId, labels: POOL })),
    nodes: ids.map((providerId, at) =>
      aNode({ name: `n${at}`, providerId, labels: POOL, conditions: conditions(at) }),
    ),
  };
}

function reportOf(all: number, unhealthy: number, bad: Condition, minutes: number) {
  const { claims, nodes } = fleet(all, unhealthy, bad);
  const report = unhealthyNodes(claims, nodes, minutes * MINUTE);
  return { unhealthy: [...report.unhealthy.keys()], blocked: report.blocked.map(({ uid }) => uid) };
}

describe('an unhealthy node', () => {
  it.each<[string, Condition['status'], number]>([
    ['Ready', 'False', 30],
    ['Ready', 'Unknown', 30],
    ['AcceleratedHardwareReady', 'False', 10],
    ['StorageReady', 'False', 30],
    ['NetworkingReady', 'False', 30],
    ['KernelReady', 'False', 30],
    ['ContainerRuntimeReady', 'False', 30],
  ])('%s %s is borne for %i minutes', (type, status, minutes) => {
    const bad = condition(type, status);
    expect(reportOf(5, 1, bad, minutes - 1)).toEqual({ unhealthy: [], blocked: [] });
    expect(reportOf(5, 1, bad, minutes)).toEqual({ unhealthy: ['c0'], blocked: [] });
  });

  it('is unhealthy for what has lasted too long, whatever else has come since', () => {
    const { claims, nodes } = fleet(5, 1, condition('StorageReady', 'False'));
    const since = { ...condition('Ready', 'False'), lastTransitionAtMs: 59 * MINUTE };
    const worse = nodes.map((node, at) =>
      at === 0 ? { ...node, conditions: [since, ...node.conditions] } : node,
    );
    const { unhealthy } = unhealthyNodes(claims, worse, 60 * MINUTE);
    expect([...unhealthy].map(([uid, { why }]) => [uid, sentence(why)])).toEqual([
      ['c0', 'StorageReady has been False for 30 minutes'],
    ]);
  });

  it('stays where more than a fifth of its NodePool is unhealthy', () => {
    const bad = condition('Ready', 'Unknown');
    expect(reportOf(6, 2, bad, 60)).toEqual({ unhealthy: ['c0', 'c1'], blocked: [] });
    expect(reportOf(6, 3, bad, 60)).toEqual({ unhealthy: [], blocked: ['c0', 'c1', 'c2'] });
  });

  it('that the agent only cannot judge is left alone', () => {
    expect(reportOf(5, 1, condition('KernelReady', 'Unknown'), 60).unhealthy).toEqual([]);
  });

  it('is told what of it is not well, for how long, and goes without a drain', () => {
    const { claims, nodes } = fleet(5, 1, condition('KernelReady', 'False'));
    expect([...unhealthyNodes(claims, nodes, 30 * MINUTE).unhealthy.values()]).toEqual([
      {
        reason: 'unhealthy',
        why: reason('node-unhealthy', { condition: 'KernelReady', status: 'False', minutes: 30 }),
        isImmediate: true,
        condition: 'KernelReady',
      },
    ]);
  });

  it('is unhealthy for what was due first, where several things are', () => {
    const { claims, nodes } = fleet(5, 1, condition('StorageReady', 'False'));
    const sooner = condition('AcceleratedHardwareReady', 'False');
    const both = (first: Condition, second: Condition) =>
      nodes.map((node, at) => (at === 0 ? { ...node, conditions: [first, second] } : node));
    const later = { ...condition('KernelReady', 'False'), lastTransitionAtMs: MINUTE };
    const told = (first: Condition, second: Condition) =>
      [...unhealthyNodes(claims, both(first, second), 60 * MINUTE).unhealthy.values()][0]
        ?.condition;
    const storage = condition('StorageReady', 'False');
    expect(told(storage, sooner)).toBe('AcceleratedHardwareReady');
    expect(told(later, storage)).toBe('StorageReady');
    const ready = { ...condition('Ready', 'False'), lastTransitionAtMs: 25 * MINUTE };
    expect(told(ready, storage)).toBe('StorageReady');
    expect(told(storage, ready)).toBe('StorageReady');
  });

  it('without a NodePool stays where more than a fifth of all nodes is unhealthy', () => {
    const bad = condition('Ready', 'False');
    const ofPool = fleet(10, 2, bad);
    const bare = fleet(10, 1, bad);
    const apart = {
      claims: bare.claims.map((each) => ({
        ...each,
        uid: `bare-${each.uid}`,
        providerId: `b${each.providerId}`,
        labels: {},
      })),
      nodes: bare.nodes.map((each) => ({ ...each, providerId: `b${each.providerId}`, labels: {} })),
    };
    const report = (count: number) => {
      const claims = [...ofPool.claims, ...apart.claims.slice(0, count)];
      const { unhealthy, blocked } = unhealthyNodes(
        claims,
        [...ofPool.nodes, ...apart.nodes],
        60 * MINUTE,
      );
      return [[...unhealthy.keys()].join(), blocked.map(({ uid }) => uid).join()];
    };
    expect(report(1)).toEqual(['c0,c1,bare-c0', '']);
    const three = ofPool.claims.slice(0, 3);
    const few = unhealthyNodes(
      [...three, ...apart.claims.slice(0, 1)],
      [...ofPool.nodes, ...apart.nodes],
      60 * MINUTE,
    );
    expect([...few.unhealthy.keys()]).toEqual([]);
    expect(few.blocked.map(({ uid }) => uid)).toEqual(['c0', 'c1', 'bare-c0']);
  });

  it('without a NodePool goes where few of all nodes are, though all such nodes are', () => {
    const bad = condition('Ready', 'False');
    const [ofPool, bare] = [fleet(10, 0, bad), fleet(2, 2, bad)];
    const claims = bare.claims.map((each) => ({
      ...each,
      uid: `bare-${each.uid}`,
      providerId: `b${each.providerId}`,
      labels: {},
    }));
    const nodes = bare.nodes.map((each) => ({
      ...each,
      providerId: `b${each.providerId}`,
      labels: {},
    }));
    const report = unhealthyNodes(
      [...ofPool.claims, ...claims],
      [...ofPool.nodes, ...nodes],
      60 * MINUTE,
    );
    expect([...report.unhealthy.keys()]).toEqual(['bare-c0', 'bare-c1']);
    expect(report.blocked).toEqual([]);
  });

  it('stays where all of its NodePool is, though few of all nodes are', () => {
    const bad = condition('Ready', 'False');
    const [whole, other] = [fleet(2, 2, bad), fleet(20, 0, bad)];
    const claims = [
      ...whole.claims,
      ...other.claims.map((each) => ({
        ...each,
        uid: `o-${each.uid}`,
        providerId: `o${each.providerId}`,
        labels: { 'karpenter.sh/nodepool': 'other' },
      })),
    ];
    const nodes = [
      ...whole.nodes,
      ...other.nodes.map((each) => ({
        ...each,
        providerId: `o${each.providerId}`,
        labels: { 'karpenter.sh/nodepool': 'other' },
      })),
    ];
    const { unhealthy, blocked } = unhealthyNodes(claims, nodes, 60 * MINUTE);
    expect(unhealthy.size).toBe(0);
    expect(blocked).toHaveLength(2);
  });

  it('counts only nodes with a claim, and claims with a node', () => {
    const { claims, nodes } = fleet(5, 1, condition('Ready', 'False'));
    const waiting = aNodeClaim({ uid: 'waiting', providerId: undefined });
    const notReady = [condition('Ready', 'False')];
    const foreign = aNode({ name: 'x', providerId: undefined, conditions: notReady, labels: POOL });
    const sick = aNode({
      name: 'y',
      providerId: 'aws:///y',
      conditions: [condition('Ready', 'False')],
      labels: POOL,
    });
    const lost = aNodeClaim({ uid: 'lost', providerId: 'aws:///lost', labels: POOL });
    const report = unhealthyNodes(
      [...claims, waiting, lost],
      [...nodes, foreign, sick],
      60 * MINUTE,
    );
    expect([...report.unhealthy.keys()]).toEqual(['c0']);
  });

  it('whose claim is on its way out is not deleted again', () => {
    const { claims, nodes } = fleet(5, 1, condition('Ready', 'False'));
    const leaving = claims.map((claim) => ({ ...claim, deletedAtMs: 1 }));
    expect(unhealthyNodes(leaving, nodes, 60 * MINUTE).unhealthy.size).toBe(0);
  });
});

describe('an instance that EC2 reports on', () => {
  const id = 'i-0123456789abcdef0';
  const claim = aNodeClaim({ uid: 'c', providerId: `aws:///us-east-1a/${id}` });
  const status = (kind: SeenStatus['kind']) => ({
    instanceId: id,
    kind,
    sinceMs: 0,
    description: '',
  });
  const reported = (statuses: readonly SeenStatus[], minutes: number) =>
    impairedInstances([claim], statuses, minutes * MINUTE).get('c');

  it.each(['instance_status', 'system_status'] as const)(
    '%s goes at once after 2 minutes',
    (kind) => {
      expect(reported([status(kind)], 1)).toBeUndefined();
      expect(reported([status(kind)], 2)).toMatchObject({ reason: kind, isImmediate: true });
    },
  );

  it('a scheduled event leaves time for a drain', () => {
    expect(reported([status('event_status')], 0)).toMatchObject({ isImmediate: false });
  });

  it('a failed check counts before a scheduled event, whatever comes first', () => {
    const kinds = ['system_status', 'event_status', 'instance_status'] as const;
    for (const order of [kinds, kinds.toReversed()]) {
      expect(reported(order.map(status), 3)).toMatchObject({ reason: 'system_status' });
    }
    expect(reported([status('instance_status'), status('event_status')], 3)).toMatchObject({
      isImmediate: true,
    });
  });

  it('is told what EC2 says', () => {
    const described = { ...status('system_status'), description: 'reachability failed' };
    expect(reported([described], 2)).toEqual({
      reason: 'system_status',
      why: reason('instance-impaired', {
        check: 'system_status',
        instance: id,
        said: 'reachability failed',
      }),
      isImmediate: true,
      condition: undefined,
    });
  });

  it.each([
    ['that waits for its instance', { providerId: undefined }],
    ['that is on its way out', { deletedAtMs: 1 }],
  ])('is nobody of a claim %s', (_, rest) => {
    const [all, ended] = [aNodeClaim({ uid: 'd' }), { ...claim, ...rest }];
    expect(impairedInstances([ended, all], [status('event_status')], 0).size).toBe(0);
  });

  it('that is not ours is nobody', () => {
    expect(
      reported([{ ...status('system_status'), instanceId: 'i-0ffffffff' }], 9),
    ).toBeUndefined();
  });
});
