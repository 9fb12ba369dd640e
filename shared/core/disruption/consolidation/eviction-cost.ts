import type { Pod } from '../../model/pod.ts';
import { isReschedulable } from '../candidates.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const COST_MAX = 10;
/** In a move's balance no pod is more than so many ordinary ones. */
const PAID_MAX = 2;

/**
 * What moving a pod is counted as: 1 for most, less or more by its deletion cost and priority, from
 * −10 to 10. https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export function evictionCost({ annotations, spec }: Pod): number {
  const deletionCost = Number(annotations[DELETION_COST] ?? 0);
  const own = Number.isFinite(deletionCost) ? deletionCost : 0;
  const cost = 1 + own / 2 ** 27 + spec.priority / 2 ** 25;
  return Math.min(COST_MAX, Math.max(-COST_MAX, cost));
}

/** Of the pods that move, each at most `most`; none of them makes another one cheaper. */
function costOf(pods: readonly Pod[], most: number): number {
  const costs = pods.filter(isReschedulable).map((pod) => Math.max(0, evictionCost(pod)));
  return costs.reduce((sum, cost) => sum + Math.min(most, cost), 0);
}

/** Of all pods that a node's end would move. */
export function evictionCostOf(pods: readonly Pod[]): number {
  return costOf(pods, COST_MAX);
}

/**
 * How many evictions of ordinary pods a move of the pods is paid for as. Deletion cost and priority
 * say which of several pods goes first: Kubernetes compares pods of one owner by them, Karpenter
 * orders nodes by them, and neither lets a node stay for them. So they weigh little here.
 * https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#pod-deletion-cost
 */
export function paidEvictionsOf(pods: readonly Pod[]): number {
  return costOf(pods, PAID_MAX);
}
