import { EVICTION_ORDER, INTERRUPTED } from '../model/labels.ts';
import { type Pod, podKey, toldToGoAtMs } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClaimDecision, LifecycleAction } from './actions.ts';

/**
 * Owners of pods, by {@link ownerOf}, in the order in which their pods are evicted from nodes that
 * are drained, one after the other. Of an owner whose pods differ first the uids of its pods, and
 * then its own, by which the pods that come in their place are known. So each pod finds the place
 * that the plan has for it: evicted all at once, those that could go anywhere would take the room
 * of those that cannot.
 */
export type EvictionOrder = readonly string[];

const SEPARATOR = ',';

/** The annotation's text. */
export function evictionOrderText(order: EvictionOrder): string {
  return order.join(SEPARATOR);
}

/** The uid of what owns the pod, or its own. */
export function ownerOf({ controller, uid }: Pick<Pod, 'controller' | 'uid'>): string {
  return controller?.uid ?? uid;
}

/** So long an eviction waits at most for the place of the pod before it. */
const PLACE_MS = 30_000;
/** After so long a drain goes on without an order. */
const ORDERED_MS = 10 * 60_000;

/** The order in which a claim's pods are evicted; undefined: all at once. EC2 waits for no order. */
function orderOf({ annotations, deletedAtMs }: NodeClaim, nowMs: number): string | undefined {
  if (annotations[INTERRUPTED] !== undefined || deletedAtMs === undefined) return undefined;
  return nowMs - deletedAtMs < ORDERED_MS ? annotations[EVICTION_ORDER] : undefined;
}

/** Whether the pod waits for a node, and kube-scheduler has had little time to find one. */
function isNew({ phase, nodeName, deletedAtMs, spec, createdAtMs }: Pod, nowMs: number): boolean {
  if (phase !== 'Pending' || nodeName !== undefined || deletedAtMs !== undefined) return false;
  return !spec.hasSchedulingGates && nowMs - createdAtMs < PLACE_MS;
}

/** Whether another comes in its place only once it is gone: of a StatefulSet. */
function isAwaited(pod: Pod, nowMs: number): boolean {
  const { controller, deletedAtMs } = pod;
  if (controller?.kind !== 'StatefulSet' || deletedAtMs === undefined) return false;
  return nowMs - toldToGoAtMs(pod, deletedAtMs) < PLACE_MS;
}

/** The next of the pods in the order; undefined while one of these owners has no place yet. */
function nextOf(
  order: EvictionOrder,
  evictable: readonly Pod[],
  pods: readonly Pod[],
  nowMs: number,
): Pod | undefined {
  const ranks = new Map(order.map((owner, rank) => [owner, rank]));
  const isWaiting = (pod: Pod): boolean =>
    ranks.has(ownerOf(pod)) && (isNew(pod, nowMs) || isAwaited(pod, nowMs));
  if (evictable.length === 0 || pods.some(isWaiting)) return undefined;
  const rankOf = (pod: Pod): number =>
    ranks.get(pod.uid) ?? ranks.get(ownerOf(pod)) ?? order.length;
  const [first] = evictable.toSorted(
    (a, b) => rankOf(a) - rankOf(b) || (podKey(a) < podKey(b) ? -1 : 1),
  );
  return first;
}

function evictedBy(actions: readonly LifecycleAction[]): readonly Pod[] {
  return actions.flatMap((each) => (each.kind === 'evict' ? each.pods : []));
}

/**
 * The decisions, with the evictions of claims that have an order one after the other: none while a
 * pod of the same order still waits for a node. A pod whose eviction was refused, as a
 * PodDisruptionBudget does until the one before is ready, keeps those after it waiting, whose pods
 * would take its place; it is asked for as on any node.
 */
export function inEvictionOrder(
  decisions: readonly ClaimDecision[],
  pods: readonly Pod[],
  isRefused: (pod: Pod) => boolean,
  nowMs: number,
): readonly ClaimDecision[] {
  const ordered = Map.groupBy(decisions, ({ claim }) => orderOf(claim, nowMs));
  ordered.delete(undefined);
  if (ordered.size === 0) return decisions;
  const next = [...ordered].map(([text = '', own]) => {
    const evictable = own.flatMap(({ actions }) => evictedBy(actions));
    return nextOf(text.split(SEPARATOR), evictable, pods, nowMs);
  });
  const going = new Set(next);
  return decisions.map((decision) => {
    if (orderOf(decision.claim, nowMs) === undefined) return decision;
    const actions = decision.actions.flatMap((action): readonly LifecycleAction[] => {
      if (action.kind !== 'evict') return [action];
      const own = action.pods.filter((pod) => going.has(pod) || isRefused(pod));
      return own.length === 0 ? [] : [{ ...action, pods: own }];
    });
    return { ...decision, actions };
  });
}
