import { holdsNode, isProtected } from '../lifecycle/drain.ts';
import type { Node, PodDisruptionBudget } from '../model/cluster.ts';
import { DO_NOT_DISRUPT, NOMINATED_UNTIL } from '../model/labels.ts';
import { type Pod, podKey } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { DISRUPTED, tolerates } from '../model/taint.ts';
import { selects } from '../scheduling/problem/selectors.ts';

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
    pod.phase !== 'Succeeded' &&
    pod.phase !== 'Failed' &&
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
  return budgets.filter(
    (budget) =>
      budget.namespace === pod.namespace &&
      selects(budget.selector, pod.labels) &&
      !(budget.unhealthyPodEvictionPolicy === 'AlwaysAllow' && !pod.ready),
  );
}

/** Which of its pods holds the node, and why; undefined: none does. */
function blockingPod(
  { pods }: Candidate,
  budgets: readonly PodDisruptionBudget[],
  nowMs: number,
): string | undefined {
  const running = pods
    .filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed')
    .sort((a, b) => (podKey(a) < podKey(b) ? -1 : 1));
  const guarded = running.find((pod) => isProtected(pod, nowMs));
  if (guarded !== undefined) return `Pod ${podKey(guarded)} has the annotation ${DO_NOT_DISRUPT}`;
  for (const pod of running) {
    if (pod.deletedAtMs !== undefined || !holdsNode(pod, nowMs)) continue;
    const own = budgetsOf(pod, budgets);
    if (own.length > 1) return `Pod ${podKey(pod)} has more than one PodDisruptionBudget`;
    const [budget] = own;
    if (budget !== undefined && budget.disruptionsAllowed <= 0) {
      const name = `${budget.namespace}/${budget.name}`;
      return `PodDisruptionBudget ${name} does not allow the eviction of Pod ${podKey(pod)}`;
    }
  }
  return undefined;
}

/** What of the node itself keeps it, whatever its pods say; undefined: nothing. */
function blockedItself(candidate: Candidate, nowMs: number): string | undefined {
  const { node } = candidate;
  if (node.annotations[DO_NOT_DISRUPT] === 'true') {
    return `Node ${node.name} has the annotation ${DO_NOT_DISRUPT}`;
  }
  return isNominated(candidate, nowMs) ? 'The node is nominated for pending pods' : undefined;
}

/**
 * How far a disruption goes: `graceful` waits for pods that must not be disrupted, `eventual` does
 * not where the claim has a termination grace period, since the drain ends with it.
 * https://karpenter.sh/docs/concepts/disruption/#terminationgraceperiod
 */
export type DisruptionClass = 'graceful' | 'eventual';

/** Why the node may not be disrupted now; undefined: it may. */
export function blockedBy(
  candidate: Candidate,
  budgets: readonly PodDisruptionBudget[],
  nowMs: number,
  disruptionClass: DisruptionClass,
): string | undefined {
  const isEnding = candidate.claim.terminationGracePeriodMs !== undefined;
  const ofNode = blockedItself(candidate, nowMs);
  if (disruptionClass === 'eventual' && isEnding) return ofNode;
  return ofNode ?? blockingPod(candidate, budgets, nowMs);
}

/**
 * Why the node may not be consolidated, beside what {@link blockedBy} says: a pod that tolerates
 * the taint of disrupted nodes is never evicted. It would be cut off with its instance, come back
 * later than the others, and go where the move has placed one of them.
 */
export function unevictableBy({ pods }: Pick<Candidate, 'pods'>): string | undefined {
  const pod = pods
    .filter(
      (each) =>
        isReschedulable(each) && each.spec.tolerations.some((one) => tolerates(one, DISRUPTED)),
    )
    .sort((a, b) => (podKey(a) < podKey(b) ? -1 : 1))[0];
  if (pod === undefined) return undefined;
  return `Pod ${podKey(pod)} tolerates the taint ${DISRUPTED.key} and is not evicted`;
}
