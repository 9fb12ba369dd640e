import { type Reason, reason } from '../explain/reason.ts';
import type { Node } from '../model/cluster.ts';
import type { Plan, PlannedNodeClaim } from '../model/plan.ts';
import { DEFAULT_SCHEDULER, isBufferPod, type Pod, podKey } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { CANDIDATE, DISRUPTED, isDisrupted, type Taint } from '../model/taint.ts';
import { isPending } from '../nomination/planned-pods.ts';
import { stateNodes } from '../scheduling/problem/state-node.ts';
import { replan } from '../scheduling/replan.ts';
import { type Candidate, isReschedulable } from './candidates.ts';

/** Keeps pods away from a node that is counted as it is. */
const RESERVED: Taint = { key: 'joiner.dev/reserved', value: '', effect: 'NoSchedule' };

/** The name of the node that a pod would go to, by the pod's key. */
export type Places = ReadonlyMap<string, string>;

/** What a node's end would ask for. */
export type Outcome =
  | {
      readonly kind: 'possible';
      /** Nodes that have to be there before; empty: its pods fit on what there is. */
      readonly replacements: readonly PlannedNodeClaim[];
      /** Nodes that are there already and take some of its pods. */
      readonly elsewhere: Places;
    }
  | { readonly kind: 'blocked'; readonly why: Reason };

function withTaint(snapshot: ClusterSnapshot, name: string, taint: Taint): ClusterSnapshot {
  const nodes = snapshot.nodes.map((node) => {
    if (node.name !== name || isDisrupted(node)) return node;
    return { ...node, taints: [...node.taints, taint] };
  });
  return { ...snapshot, nodes };
}

/** The node as one that goes away: its pods are in the demand. */
export function withLeaving(snapshot: ClusterSnapshot, name: string): ClusterSnapshot {
  return withTaint(snapshot, name, CANDIDATE);
}

/** The same with a node that limits of its NodePool count: it is there until others are ready. */
export function withLeavingCounted(snapshot: ClusterSnapshot, name: string): ClusterSnapshot {
  return withTaint(snapshot, name, DISRUPTED);
}

/** Whether kube-scheduler has yet to look at the pod; of other schedulers nobody knows. */
function isUntried(pod: Pod): boolean {
  return isPending(pod) && !pod.unschedulable && pod.spec.schedulerName === DEFAULT_SCHEDULER;
}

/** The same snapshot with every pod that kube-scheduler is to place as one that it has tried. */
export function withAllWaiting(snapshot: ClusterSnapshot): ClusterSnapshot {
  const pods = snapshot.pods.map((pod) => (isUntried(pod) ? { ...pod, unschedulable: true } : pod));
  return { ...snapshot, pods };
}

/**
 * The pods where they will go: nobody else may count on that room, nor on its node. `inbound` are
 * those of them that others may overtake: they have not been evicted yet, and may not be for long.
 */
export function withPlaces(
  snapshot: ClusterSnapshot,
  places: Places,
  inbound: ReadonlySet<string> = new Set(),
): ClusterSnapshot {
  if (places.size === 0) return snapshot;
  const pods = snapshot.pods.map((pod) => {
    const nodeName = places.get(podKey(pod));
    if (nodeName === undefined) return pod;
    return { ...pod, nodeName, ...(inbound.has(podKey(pod)) ? { isInbound: true } : {}) };
  });
  return { ...snapshot, pods };
}

/** Where a plan puts those of the pods that a node takes which is there already. */
export function placesOf(
  plan: Plan,
  moving: ReadonlySet<string>,
  starting: ReadonlySet<string>,
): Places {
  return new Map(
    plan.existing
      .filter(({ node }) => !starting.has(node))
      .flatMap(({ node, pods }) =>
        pods.filter((pod) => moving.has(pod)).map((pod) => [pod, node] as const),
      ),
  );
}

/** Nodes and claims that are not initialised, by the names that plans have for them. */
export function startingNodes(snapshot: ClusterSnapshot): ReadonlySet<string> {
  return new Set(
    stateNodes(snapshot).flatMap(({ name, isInitialized }) => (isInitialized ? [] : [name])),
  );
}

/**
 * Where pods of nodes that are replaced or drained will go but for the replacements: in one plan,
 * with all these nodes gone.
 */
export function placesOfLeaving(
  snapshot: ClusterSnapshot,
  leaving: readonly Candidate[],
  replacements: readonly NodeClaim[],
  settings: SchedulingSettings,
): Places {
  const moving = new Set(leaving.flatMap(({ pods }) => pods.filter(isReschedulable)).map(podKey));
  if (moving.size === 0) return new Map();
  const without = leaving.reduce((each, { node }) => withLeaving(each, node.name), snapshot);
  const named = new Map(snapshot.nodes.map(({ providerId, name }) => [providerId, name]));
  const own = replacements.map(({ name, providerId }) => named.get(providerId) ?? name);
  const taken = new Set([...startingNodes(without), ...own]);
  return placesOf(replan(without, settings), moving, taken);
}

/**
 * A node that is being replaced and the replacements, for decisions about other nodes: the pods
 * stay where they are but for those that have another place, and the room that is meant for them
 * is nobody else's.
 */
export function withReserved(
  snapshot: ClusterSnapshot,
  replaced: NodeClaim,
  replacements: readonly NodeClaim[],
  elsewhere: Places = new Map(),
): ClusterSnapshot {
  const taken = new Set([replaced.uid, ...replacements.map(({ uid }) => uid)]);
  const isKnown = new Set(snapshot.nodeClaims.map(({ uid }) => uid));
  const added = replacements.filter(({ uid }) => !isKnown.has(uid));
  const nodeClaims = [...snapshot.nodeClaims, ...added].map((claim) =>
    taken.has(claim.uid)
      ? { ...claim, deletedAtMs: undefined, taints: [...claim.taints, RESERVED] }
      : claim,
  );
  const providers = new Set(
    nodeClaims.flatMap(({ uid, providerId }) => (taken.has(uid) ? (providerId ?? []) : [])),
  );
  const nodes = snapshot.nodes.map((node) => {
    if (node.providerId === undefined || !providers.has(node.providerId)) return node;
    const others = node.taints.filter(({ key }) => key !== DISRUPTED.key);
    return { ...node, deletedAtMs: undefined, taints: [...others, RESERVED] };
  });
  return withPlaces({ ...snapshot, nodeClaims, nodes }, elsewhere);
}

/** Why the pods have no place yet; undefined: they have. */
export function obstacle(
  plan: Plan,
  moving: ReadonlySet<string>,
  starting: ReadonlySet<string>,
): Reason | undefined {
  for (const [pod, { message }] of [...plan.unplaced].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (moving.has(pod)) return reason('pod-would-wait', { pod, why: message });
  }
  const early = plan.existing.find(
    ({ node, pods }) => starting.has(node) && pods.some((pod) => moving.has(pod)),
  );
  return early && reason('host-still-starts', { node: early.node });
}

/**
 * Plans as `provision` does, with the node gone. New nodes that carry its pods have to be there
 * first; those for pods that wait are the business of `provision`.
 */
export function simulate(
  snapshot: ClusterSnapshot,
  node: Node,
  settings: SchedulingSettings,
): Outcome {
  const pods = snapshot.pods.filter(({ nodeName }) => nodeName === node.name);
  const without = withLeaving(snapshot, node.name);
  const plan = replan(without, settings);
  const moving = new Set(pods.filter(isReschedulable).map(podKey));
  const starting = startingNodes(without);
  const why = obstacle(plan, moving, starting);
  if (why !== undefined) return { kind: 'blocked', why };
  // Room that a CapacityBuffer keeps on an empty node has to be elsewhere before, too.
  const kept = moving.size > 0 ? [] : snapshot.pods.filter(isBufferPod);
  const needed = new Set([...moving, ...kept.map(podKey)]);
  const replacements = plan.newNodeClaims.filter((each) =>
    each.pods.some((pod) => needed.has(pod)),
  );
  return { kind: 'possible', replacements, elsewhere: placesOf(plan, moving, starting) };
}
