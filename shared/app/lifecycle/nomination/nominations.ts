import { conditionOf, isTrue } from '../../../core/lifecycle/conditions.ts';
import { isOver, type Pod } from '../../../core/model/pod.ts';
import type { NodeClaim } from '../../../core/model/provisioning.ts';
import { fitsResources, type Resources, subtractResources } from '../../../core/model/resources.ts';
import { isPending, plannedPods } from '../../../core/nomination/planned-pods.ts';
import { type Nominees, nominableTogether } from '../../../core/nomination/spread-order.ts';
import type { ClusterState, Ports } from '../../../ports.ts';
import { atOnce } from '../../writes/at-once.ts';
import { attempt, type Failure } from '../../writes/attempt.ts';
import { podRef } from '../../writes/references.ts';

/** More at once would only wait in the API server, and other functions' calls with them. */
const AT_ONCE_MAX = 20;

/** Nodes wait while their pods are nominated: after this long without the rest. */
const NOMINATING_MS_MAX = 5_000;

/** What claims still have to tell kube-scheduler. */
export interface Nominations {
  /** Pods without a node, by uid. */
  readonly pending: ReadonlyMap<string, Pod>;
  /** The same, by the node that they are nominated to. */
  readonly nominated: ReadonlyMap<string | undefined, readonly Pod[]>;
  /** Names of nodes that stay. A nomination to one of them is left alone, whoever has made it. */
  readonly staying: ReadonlySet<string | undefined>;
  /** By the uid of a pod: the claim that the last plan has put it on. */
  readonly plannedOn: ReadonlyMap<string, NodeClaim>;
  /** By the name of a node: what its pods and those nominated to it leave of it. */
  readonly free: Map<string, Resources>;
  readonly nowMs: number;
}

/** So long after its node has opened a pod's place is kept for it. */
export const SETTLING_MS = 15_000;

/** Whether the claim's node has opened a moment ago. */
function isSettling(claim: NodeClaim, nowMs: number): boolean {
  const registered = conditionOf(claim, 'Registered');
  return registered?.status === 'True' && nowMs - registered.lastTransitionAtMs < SETTLING_MS;
}

/** Of nodes that have opened a moment ago, by name. */
function freeRoom({ objects }: ClusterState, nowMs: number): Map<string, Resources> {
  const opened = new Set(
    objects.nodeClaims.filter((claim) => isSettling(claim, nowMs)).map((each) => each.nodeName),
  );
  const nodes = objects.nodes.filter(({ name }) => opened.has(name));
  const free = new Map(nodes.map(({ name, allocatable }) => [name, allocatable]));
  if (free.size === 0) return free;
  for (const pod of objects.pods) {
    const { nodeName, nominatedNodeName, spec } = pod;
    const name = nodeName ?? nominatedNodeName ?? '';
    const room = free.get(name);
    if (room === undefined || isOver(pod)) continue;
    free.set(name, subtractResources(room, spec.requests));
  }
  return free;
}

/** For nodes that are registered as soon as they are ready, whatever pods wait for. */
export const NO_NOMINATIONS: Nominations = {
  pending: new Map(),
  nominated: new Map(),
  staying: new Set(),
  plannedOn: new Map(),
  free: new Map(),
  nowMs: 0,
};

/** Later plans know more: a pod that several claims name is the newest one's. */
export function readNominations(state: ClusterState, nowMs: number): Nominations {
  const { objects } = state;
  const pending = new Map(objects.pods.filter(isPending).map((pod) => [pod.uid, pod]));
  const claims = objects.nodeClaims.filter(({ deletedAtMs }) => deletedAtMs === undefined);
  const leaving = new Set(
    objects.nodeClaims.flatMap(({ deletedAtMs, providerId }) =>
      deletedAtMs === undefined ? [] : (providerId ?? []),
    ),
  );
  const staying = objects.nodes.filter(
    ({ deletedAtMs, providerId }) => deletedAtMs === undefined && !leaving.has(providerId ?? ''),
  );
  const inOrder = claims.toSorted(
    (a, b) => a.createdAtMs - b.createdAtMs || (a.name < b.name ? -1 : 1),
  );
  const plannedOn = inOrder.flatMap((claim) =>
    plannedPods(claim).map((uid) => [uid, claim] as const),
  );
  return {
    pending,
    nominated: Map.groupBy(pending.values(), ({ nominatedNodeName }) => nominatedNodeName),
    staying: new Set(staying.map(({ name }) => name)),
    plannedOn: new Map(plannedOn),
    free: freeRoom(state, nowMs),
    nowMs,
  };
}

/**
 * The pods that the claim was planned for and that are nominated to no node. Once its node is open
 * they are those whose place is not taken: kube-scheduler has tried them in vain, and keeps others
 * off a node for pods that do not fit there.
 */
export function awaitingPods(
  claim: NodeClaim,
  { pending, nominated, staying, plannedOn, free, nowMs }: Nominations,
): readonly Pod[] {
  const isOpen = isTrue(claim, 'Registered');
  if (isOpen && !isSettling(claim, nowMs)) return [];
  const own = plannedPods(claim).filter((uid) => plannedOn.get(uid) === claim);
  const pods = own.flatMap((uid) => pending.get(uid) ?? []);
  const waiting = pods.filter(({ nominatedNodeName }) => !staying.has(nominatedNodeName));
  if (!isOpen) return waiting;
  return nominableTogether(waiting, nominated.get(claim.nodeName)).filter(({ spec }) => {
    const room = free.get(claim.nodeName ?? '');
    if (room === undefined || !fitsResources(spec.requests, room)) return false;
    free.set(claim.nodeName ?? '', subtractResources(room, spec.requests));
    return true;
  });
}

/** Whether a pod that the claim was planned for has no node yet. */
export function isAwaited(claim: NodeClaim, { pending }: Nominations): boolean {
  return plannedPods(claim).some((uid) => pending.has(uid));
}

/** Whether such a pod may lose its place on a node that has opened a moment ago. */
export function isAtRisk(claim: NodeClaim, nominations: Nominations): boolean {
  return isSettling(claim, nominations.nowMs) && isAwaited(claim, nominations);
}

interface Nominating {
  readonly clock: Pick<Ports['clock'], 'nowMs'>;
  readonly cluster: Pick<Ports['cluster'], 'nominate'>;
}

/**
 * Nominates pods to their nodes. What is refused is reported, and nothing waits for it nor for an
 * API server that takes long: kube-scheduler then binds the rest of the pods as it likes.
 */
export async function nominatePods(
  { cluster, clock }: Nominating,
  nominees: readonly Nominees[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  let taken = 0;
  const endMs = clock.nowMs() + NOMINATING_MS_MAX;
  const all = nominees.flatMap(({ node, pods }) => pods.map((pod) => ({ node, pod })));
  await atOnce(AT_ONCE_MAX, all, async ({ node, pod }) => {
    if (clock.nowMs() >= endMs) return;
    // Where none was taken the next will not be either, and the nodes wait.
    if (taken === 0 && failures.length >= AT_ONCE_MAX) return;
    const nominate = async (): Promise<void> => {
      await cluster.nominate(podRef(pod), node.name);
      taken += 1;
    };
    failures.push(...(await attempt(`Node/${node.name}`, nominate)));
  });
  return failures.slice(0, 1);
}
