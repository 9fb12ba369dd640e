import { nodeOfClaim } from '../model/joins.ts';
import type { Plan } from '../model/plan.ts';
import { type Pod, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { isDisrupted } from '../model/taint.ts';
import { isWaiting } from '../nomination/planned-pods.ts';
import { startingNodes, withReserved } from './simulation.ts';

/** kube-scheduler has bound a pod for which there is room on a node long before. */
const WAITED_MS = 3 * 60_000;

/** Whether a pod has waited for long though the plan puts it on a node that takes pods. */
function isLeftWaiting({ existing }: Plan, snapshot: ClusterSnapshot, nowMs: number): boolean {
  const old = snapshot.pods.filter((pod) => isWaiting(pod) && nowMs - pod.createdAtMs >= WAITED_MS);
  if (old.length === 0) return false;
  const keys = new Set(old.map(podKey));
  const starting = startingNodes(snapshot);
  return existing.some(
    ({ node, pods }) => !starting.has(node) && pods.some((pod) => keys.has(pod)),
  );
}

/**
 * The cluster as kube-scheduler sees it: nodes that go away have their pods, and take no others.
 * Undefined: none goes away.
 */
function asItIsNow(snapshot: ClusterSnapshot): ClusterSnapshot | undefined {
  const leaving = snapshot.nodeClaims.filter((claim) => {
    const node = nodeOfClaim(snapshot.nodes, claim);
    return node !== undefined && (claim.deletedAtMs !== undefined || isDisrupted(node));
  });
  if (leaving.length === 0) return undefined;
  return leaving.reduce((each, claim) => withReserved(each, claim, []), snapshot);
}

/** A plan, and what it was made on. */
export interface PlanOn<Made extends Plan> {
  readonly snapshot: ClusterSnapshot;
  readonly plan: Made;
}

/**
 * The plan, in which pods of nodes that go away are elsewhere. Until they are, topology spread and
 * anti-affinity count them where they are: a pod may wait for one to go that a PodDisruptionBudget
 * keeps until the pod is ready. Where pods have waited for long in spite of the plan, it is the one
 * by the cluster as it is now if that launches something. `present` are all pods that are there:
 * the snapshot may be without some for which others come.
 */
export function planForLeftWaiting<Made extends Plan>(
  { snapshot, plan }: PlanOn<Made>,
  present: readonly Pod[],
  make: (snapshot: ClusterSnapshot) => Made,
  nowMs: number,
): PlanOn<Made> {
  if (!isLeftWaiting(plan, snapshot, nowMs)) return { snapshot, plan };
  const now = asItIsNow({ ...snapshot, pods: present });
  if (now === undefined) return { snapshot, plan };
  const other = make(now);
  return other.newNodeClaims.length === 0 ? { snapshot, plan } : { snapshot: now, plan: other };
}
