import { describe, expect, it } from 'vitest';
import { sentence } from '../../../shared/core/explain/reason.ts';
import {
  impairedInstances,
  type SeenStatus,
  unhealthyNodes,
} from '../../../shared/core/lifecycle/repair.ts';
import { withinBudgets } from '../../../shared/core/lifecycle/repair-budgets.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';
import type { DisruptionReason } from '../../../shared/core/model/provisioning.ts';
import { poolOf } from '../../builders/scheduling.ts';
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

  it('a failed check counts before a scheduled event', () => {
    const both = [status('system_status'), status('event_status')];
    expect(reported(both, 3)).toMatchObject({ isImmediate: true });
  });

  it('that is not ours is nobody', () => {
    expect(
      reported([{ ...status('system_status'), instanceId: 'i-0ffffffff' }], 9),
    ).toBeUndefined();
  });
});

describe('a budget', () => {
  const initialized = condition('Initialized', 'True');
  const bad = condition('Ready', 'False');
  const rules = { consolidateAfter: 0, consolidationPolicy: 'WhenEmpty' } as const;

  function going(nodes: string, reasons: readonly DisruptionReason[] | undefined) {
    const { claims, nodes: all } = fleet(10, 2, bad);
    const nodeClaims = claims.map((claim, at) => {
      return { ...claim, name: `c${at}`, conditions: [initialized] };
    });
    const budgets = [{ nodes, reasons, schedule: undefined, durationMs: undefined }];
    const nodePools = [poolOf('default', { disruption: { ...rules, budgets } })];
    const { unhealthy } = unhealthyNodes(nodeClaims, all, 30 * MINUTE);
    const { unhealthy: kept, held } = withinBudgets(
      unhealthy,
      { nodePools, nodeClaims, nodes: all },
      0,
    );
    return [[...kept.keys()], held.map(({ uid }) => uid)];
  }

  it('that names Unhealthy holds repairs beyond it', () => {
    expect(going('1', ['Unhealthy'])).toEqual([['c0'], ['c1']]);
    expect(going('0', ['Drifted', 'Unhealthy'])).toEqual([[], ['c0', 'c1']]);
    expect(going('20%', ['Unhealthy'])).toEqual([['c0', 'c1'], []]);
  });

  it('for other reasons, or for every one, does not', () => {
    expect(going('0', ['Drifted'])).toEqual([['c0', 'c1'], []]);
    expect(going('0', undefined)).toEqual([['c0', 'c1'], []]);
  });
});
