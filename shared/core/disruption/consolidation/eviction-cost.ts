import type { Pod } from '../../model/pod.ts';
import { isReschedulable } from '../candidates.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const COST_MAX = 10;

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
