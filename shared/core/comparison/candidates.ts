import { blockersOf, isEmpty } from '../disruption/candidates.ts';
import type { ConsolidationCandidate } from '../disruption/consolidation/payback.ts';
import { isBufferPod } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { candidatesOf } from './cluster-at-rest.ts';

/**
 * The nodes that may be consolidated when there is time enough: budgets and consolidateAfter only
 * make it wait, for either way alike.
 */
export function consolidatable(
  snapshot: ClusterSnapshot,
  nowMs: number,
): readonly ConsolidationCandidate[] {
  return candidatesOf(snapshot).filter(
    (each) =>
      isWithinPolicy(each) &&
      blockersOf(each, snapshot.podDisruptionBudgets, nowMs, 'graceful').length === 0,
  );
}

/** Whether its NodePool lets the node be consolidated at all, whatever its pods say. */
export function isWithinPolicy(each: ConsolidationCandidate): boolean {
  const { replicas, disruption } = each.pool;
  const { consolidateAfter, consolidationPolicy } = disruption;
  if (replicas !== undefined || consolidateAfter === 'Never') return false;
  return consolidationPolicy !== 'WhenEmpty' || isEmpty(each);
}

/** Whether nothing runs there that would have to move, and no buffer wants the room. */
export function isIdle(each: ConsolidationCandidate): boolean {
  return isEmpty(each) && !each.pods.some(isBufferPod);
}
