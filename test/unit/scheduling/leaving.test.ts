import { describe, expect, it } from 'vitest';
import type { PodDisruptionBudget } from '../../../shared/core/model/cluster.ts';
import { DO_NOT_DISRUPT } from '../../../shared/core/model/labels.ts';
import { budgetOf, nodeOf, planOf, podOf } from '../../builders/scheduling.ts';

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
    ['StatefulSet', ['default/a']],
    ['ReplicaSet', []],
  ])('that is ending comes back where it is of a %s, by the same name', (kind, expected) => {
    const controller = { kind, name: 'web', uid: 'web' };
    expect(placed({ controller, deletedAtMs: 1 })).toEqual(expected);
  });
});
