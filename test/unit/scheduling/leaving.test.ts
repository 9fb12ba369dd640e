import { describe, expect, it } from 'vitest';
import { withLeaving } from '../../../shared/core/disruption/simulation.ts';
import type { PodDisruptionBudget } from '../../../shared/core/model/cluster.ts';
import {
  DO_NOT_DISRUPT,
  INTERRUPTED,
  NODE_POOL,
  REPLACED_BY,
} from '../../../shared/core/model/labels.ts';
import type { ClusterSnapshot } from '../../../shared/core/model/snapshot.ts';
import { DISRUPTED } from '../../../shared/core/model/taint.ts';
import { demandOf } from '../../../shared/core/scheduling/problem/demand.ts';
import { stateNodes } from '../../../shared/core/scheduling/problem/state-node.ts';
import {
  budgetOf,
  claimOf,
  nodeOf,
  planOf,
  podOf,
  podsOf,
  poolOf,
  snapshotOf,
} from '../../builders/scheduling.ts';

const leaving = nodeOf('old', 4, 16, { deletedAtMs: 1 });

function placed(
  pod: Parameters<typeof podOf>[2] = {},
  podDisruptionBudgets: readonly PodDisruptionBudget[] = [],
): readonly string[] {
  const pods = [podOf('a', {}, { nodeName: 'old', ...pod })];
  const plan = planOf({ pods, nodes: [leaving], podDisruptionBudgets });
  return plan.newNodeClaims.flatMap((claim) => claim.pods);
}

describe('a pod on a node that is going away', () => {
  it('gets a new place', () => {
    expect(placed()).toEqual(['default/a']);
  });

  it('is planned for where 130,000 are, as when a large NodePool was deleted', () => {
    const snapshot = snapshotOf({
      pods: podsOf(130_000, 'a', {}, { nodeName: 'old' }),
      nodes: [leaving],
    });
    expect(demandOf(snapshot, stateNodes(snapshot)).pods).toHaveLength(130_000);
  });

  it('waits with what is wrong with it, while others get their nodes', () => {
    const volumes = [{ kind: 'claim' as const, claimName: 'gone' }];
    const pods = [podOf('a', { volumes }, { nodeName: 'old' }), podOf('b')];
    const plan = planOf({ pods, nodes: [leaving] });
    expect(plan.newNodeClaims.flatMap((claim) => claim.pods)).toEqual(['default/b']);
    expect(plan.unplaced.get('default/a')?.reasons.map((each) => each.code)).toEqual([
      'volume-claim-missing',
    ]);
  });

  it('gets none from a taint of EKS Auto Mode, which replaces its nodes itself', () => {
    const old = nodeOf('old', 4, 16, { taints: [DISRUPTED] });
    const claim = claimOf('old', { nodeName: 'old' });
    const nodeClassRef = { ...claim.nodeClassRef, group: 'eks.amazonaws.com', kind: 'NodeClass' };
    const rest = { pods: [podOf('a', {}, { nodeName: 'old' })], nodes: [old] };
    expect(planOf({ ...rest, nodeClaims: [claim] }).newNodeClaims).toHaveLength(1);
    const others = { ...claim, nodeClassRef };
    expect(planOf({ ...rest, nodeClaims: [others] }).newNodeClaims).toEqual([]);
  });

  it('gets none while it may not be disrupted at all', () => {
    expect(placed({ annotations: { [DO_NOT_DISRUPT]: 'true' } })).toEqual([]);
  });

  it('gets one where the protection ends after a time', () => {
    expect(placed({ annotations: { [DO_NOT_DISRUPT]: '1h' } })).toEqual(['default/a']);
  });

  const blocking = [
    { maxUnavailable: 0 },
    { maxUnavailable: '0%' },
    { minAvailable: '100%' },
    { minAvailable: 1, desiredHealthy: 1, expectedPods: 1 },
  ];
  it.each(blocking)('gets none while a budget blocks every eviction: %o', (rest) => {
    expect(placed({}, [budgetOf(rest)])).toEqual([]);
  });

  it('gets none while several budgets are its own, whatever they allow', () => {
    const budgets = ['a', 'b'].map((name) => budgetOf({ name, disruptionsAllowed: 1 }));
    expect(placed({}, budgets)).toEqual([]);
    expect(placed({}, budgets.slice(1))).toEqual(['default/a']);
  });

  it('gets one under a budget that only has to wait, that is elsewhere or of other pods', () => {
    expect(placed({}, [budgetOf({ maxUnavailable: 1 })])).toEqual(['default/a']);
    const oneOfTwo = { minAvailable: 1, desiredHealthy: 1, expectedPods: 2 };
    expect(placed({}, [budgetOf(oneOfTwo)])).toEqual(['default/a']);
    expect(placed({}, [budgetOf({ maxUnavailable: 0, namespace: 'other' })])).toEqual([
      'default/a',
    ]);
    const others = { matchLabels: { app: 'db' }, matchExpressions: [] };
    expect(placed({}, [budgetOf({ maxUnavailable: 0, selector: others })])).toEqual(['default/a']);
  });

  it('gets one while it is not ready and the budget lets unhealthy pods go', () => {
    const rest = { maxUnavailable: 0, unhealthyPodEvictionPolicy: 'AlwaysAllow' } as const;
    expect(placed({ ready: false }, [budgetOf(rest)])).toEqual(['default/a']);
    expect(placed({ ready: true }, [budgetOf(rest)])).toEqual([]);
  });

  it.each([
    ['spot_interrupted', ['default/a', 'default/b']],
    ['instance_stopped', ['default/a', 'default/b']],
    ['scheduled_change', []],
  ])(
    'gets one, whatever keeps it from eviction, where EC2 takes the node: %s',
    (kind, expected) => {
      const annotations = { [INTERRUPTED]: kind };
      const providerId = 'aws:///zone-a/i-old';
      const plan = planOf({
        pods: [
          podOf('a', {}, { nodeName: 'old' }),
          podOf(
            'b',
            {},
            { nodeName: 'old', annotations: { [DO_NOT_DISRUPT]: 'true' }, labels: {} },
          ),
        ],
        nodes: [nodeOf('old', 4, 16, { providerId })],
        nodeClaims: [claimOf('old', { providerId, annotations, deletedAtMs: 1 })],
        podDisruptionBudgets: [budgetOf({ maxUnavailable: 0 })],
      });
      expect(plan.newNodeClaims.flatMap((claim) => claim.pods).toSorted()).toEqual(expected);
    },
  );

  it.each([
    ['StatefulSet', ['default/a']],
    ['ReplicaSet', []],
  ])('that is ending comes back where it is of a %s, by the same name', (kind, expected) => {
    const controller = { kind, name: 'web', uid: 'web' };
    expect(placed({ controller, deletedAtMs: 1 })).toEqual(expected);
  });
});

describe('the limits of a NodePool', () => {
  const provider = { providerId: 'aws:///zone-a/i-old' };
  const tainted = nodeOf('old', 4, 16, { ...provider, taints: [DISRUPTED] });
  const claim = claimOf('old', provider);

  function launched(of: Partial<ClusterSnapshot>): number {
    const nodePools = [poolOf('general', { limits: { cpu: 4000 } })];
    const all = { pods: [podOf('new', {})], nodes: [tainted], nodeClaims: [claim], nodePools };
    return planOf({ ...all, ...of }).newNodeClaims.length;
  }

  it('count a node that is tainted and not deleted: it may stay', () => {
    expect(launched({})).toBe(0);
  });

  it('do not count one that is deleted, or whose replacement is there', () => {
    expect(launched({ nodeClaims: [{ ...claim, deletedAtMs: 1 }] })).toBe(1);
    const replaced = { ...claim, annotations: { [REPLACED_BY]: 'new' } };
    const replacement = claimOf('new', {});
    expect(launched({ nodeClaims: [replaced, replacement] })).toBe(1);
    expect(launched({ nodeClaims: [replaced, { ...replacement, deletedAtMs: 1 }] })).toBe(0);
    expect(launched({ nodeClaims: [replaced] })).toBe(0);
  });

  it('count one whose replacement another NodePool counts: it stays if that one fails', () => {
    const replaced = { ...claim, annotations: { [REPLACED_BY]: 'new' } };
    const replacement = claimOf('new', { labels: { [NODE_POOL]: 'other' } });
    expect(launched({ nodeClaims: [replaced, replacement] })).toBe(0);
  });

  it('count one whose replacement is named while it takes pods', () => {
    const open = nodeOf('old', 4, 16, provider);
    const replaced = { ...claim, annotations: { [REPLACED_BY]: 'new' } };
    const used = [podOf('other', { cpu: 4000 }, { nodeName: 'old' }), podOf('new', {})];
    expect(launched({ nodes: [open], nodeClaims: [replaced], pods: used })).toBe(0);
  });

  it('do not count one that a move would take away', () => {
    const snapshot = { nodes: [nodeOf('old', 4, 16, provider)] };
    expect(launched(snapshot)).toBe(0);
    expect(launched({ nodes: withLeaving(snapshotOf(snapshot), 'old').nodes })).toBe(1);
  });
});
