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

/** Of all pods that a node's end would move; none of them makes another one cheaper. */
export function evictionCostOf(pods: readonly Pod[]): number {
  return pods.filter(isReschedulable).reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 0);
}

/**
 * How many evictions of ordinary pods a move of the pods is paid for as. Deletion cost and priority
 * say which of several pods goes first: Kubernetes compares pods of one owner by them, Karpenter
 * orders nodes by them, and neither lets a node stay for them. So they weigh little here.
 * https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#pod-deletion-cost
 */
export function paidEvictionsOf(pods: readonly Pod[]): number {
  return pods
    .filter(isReschedulable)
    .reduce((sum, pod) => sum + Math.min(PAID_MAX, Math.max(0, evictionCost(pod))), 0);
}
