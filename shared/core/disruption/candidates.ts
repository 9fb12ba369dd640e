import { type Reason, reason } from '../explain/reason.ts';
import { holdsNode, isProtected } from '../lifecycle/drain.ts';
import type { Node, PodDisruptionBudget } from '../model/cluster.ts';
import { DO_NOT_DISRUPT, NOMINATED_UNTIL } from '../model/labels.ts';
import { isOver, type Pod, podKey } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { DISRUPTED, tolerates } from '../model/taint.ts';
import { budgetsSelecting } from '../scheduling/problem/pod-budgets.ts';

/** A claim with its node and what runs there. */
export interface Candidate {
  readonly claim: NodeClaim;
  readonly node: Node;
  /** All pods that are bound to the node. */
  readonly pods: readonly Pod[];
}

/** Whether a pod has to find another node when this one goes. */
export function isReschedulable(pod: Pod): boolean {
  return (
    !isOver(pod) &&
    pod.deletedAtMs === undefined &&
    pod.controller?.kind !== 'DaemonSet' &&
    pod.controller?.kind !== 'Node' &&
    !pod.isMirror
  );
}

/** Whether nothing on the node would have to move. */
export function isEmpty({ pods }: Pick<Candidate, 'pods'>): boolean {
  return !pods.some(isReschedulable);
}

/** A pass is made each minute. */
const TURN_MS = 60_000;

/**
 * Where more nodes than one pass plans for have pods, each pass begins with others: those that
 * cannot go would keep the rest waiting for ever. Empty ones, which come first, need no plan.
 */
export function inTurn<Each extends Candidate>(
  candidates: readonly Each[],
  plansMax: number,
  nowMs: number,
): readonly Each[] {
  const empty = candidates.filter(isEmpty);
  const used = candidates.filter((each) => !isEmpty(each));
  if (used.length <= plansMax) return candidates;
  const at = (Math.floor(nowMs / TURN_MS) * plansMax) % used.length;
  return [...empty, ...used.slice(at), ...used.slice(0, at)];
}

/** A plan that was made a moment ago counts on the node. */
function isNominated({ claim, node }: Candidate, nowMs: number): boolean {
  return [claim, node].some(
    ({ annotations }) => Date.parse(annotations[NOMINATED_UNTIL] ?? '') > nowMs,
  );
}

/** Budgets that an eviction of the pod would have to ask. */
export function budgetsOf(
  pod: Pod,
  budgets: readonly PodDisruptionBudget[],
): readonly PodDisruptionBudget[] {
  return budgetsSelecting(pod, budgets).filter(
    (budget) => !(budget.unhealthyPodEvictionPolicy === 'AlwaysAllow' && !pod.ready),
  );
}

/** Which of its pods hold the node, and why; by pod. */
function blockingPods(
  { pods }: Candidate,
  budgets: readonly PodDisruptionBudget[],
  nowMs: number,
): readonly Reason[] {
  const running = pods
    .filter((pod) => !isOver(pod))
    .sort((a, b) => (podKey(a) < podKey(b) ? -1 : 1));
  const annotation = DO_NOT_DISRUPT;
  return [
    ...running
      .filter((pod) => pod.deletedAtMs === undefined && isProtected(pod, nowMs))
      .map((pod) => reason('pod-protected', { pod: podKey(pod), annotation })),
    ...running
      .filter((pod) => pod.deletedAtMs === undefined && holdsNode(pod, nowMs))
      .flatMap((pod) => budgetBlocking(pod, budgets) ?? []),
  ];
}

/**
 * Why budgets keep the pod from eviction; undefined: they do not. Of several the API server looks
 * at none: not at whether they let unhealthy pods go either.
 */
function budgetBlocking(pod: Pod, budgets: readonly PodDisruptionBudget[]): Reason | undefined {
  if (budgetsSelecting(pod, budgets).length > 1) {
    return reason('pod-with-several-budgets', { pod: podKey(pod) });
  }
  const [budget] = budgetsOf(pod, budgets);
  if (budget === undefined || budget.disruptionsAllowed > 0) return undefined;
  const name = `${budget.namespace}/${budget.name}`;
  return reason('eviction-not-allowed', { budget: name, pod: podKey(pod) });
}

/** What of the node itself keeps it, whatever its pods say. */
function blockedItself(candidate: Candidate, nowMs: number): readonly Reason[] {
  const { node } = candidate;
  const isKept = node.annotations[DO_NOT_DISRUPT] === 'true';
  const kept = { node: node.name, annotation: DO_NOT_DISRUPT };
  return [
    ...(isKept ? [reason('node-protected', kept)] : []),
    ...(isNominated(candidate, nowMs) ? [reason('node-nominated', {})] : []),
  ];
}

/**
 * How far a disruption goes: `graceful` waits for pods that must not be disrupted, `eventual` does
 * not where the claim has a termination grace period, since the drain ends with it.
 * https://karpenter.sh/docs/concepts/disruption/#terminationgraceperiod
 */
export type DisruptionClass = 'graceful' | 'eventual';

/** All that keeps the node from being disrupted now, what is known of itself first. */
export function blockersOf(
  candidate: Candidate,
  budgets: readonly PodDisruptionBudget[],
  nowMs: number,
  disruptionClass: DisruptionClass,
): readonly Reason[] {
  const isEnding = candidate.claim.terminationGracePeriodMs !== undefined;
  const ofNode = blockedItself(candidate, nowMs);
  if (disruptionClass === 'eventual' && isEnding) return ofNode;
  return [...ofNode, ...blockingPods(candidate, budgets, nowMs)];
}

/**
 * Why the node may not be consolidated, beside what {@link blockersOf} says: pods that tolerate
 * the taint of disrupted nodes are never evicted. They would be cut off with their instance, come
 * back later than the others, and go where the move has placed one of them.
 */
export function unevictableBy({ pods }: Pick<Candidate, 'pods'>): readonly Reason[] {
  return pods
    .filter(
      (each) =>
        isReschedulable(each) && each.spec.tolerations.some((one) => tolerates(one, DISRUPTED)),
    )
    .sort((a, b) => (podKey(a) < podKey(b) ? -1 : 1))
    .map((pod) => reason('pod-never-evicted', { pod: podKey(pod), taint: DISRUPTED.key }));
}
