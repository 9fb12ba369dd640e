import { type Reason, reason } from '../../explain/reason.ts';
import { drainFault, isRolledOut } from '../../lifecycle/drain.ts';
import type { Plan, PlannedNodeClaim } from '../../model/plan.ts';
import { asWaiting, isLive, type Pod, podKey } from '../../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { isDisrupted } from '../../model/taint.ts';
import { replan } from '../../scheduling/replan.ts';
import { isReschedulable } from '../candidates.ts';
import { type Places, withPlaces } from '../simulation.ts';
import type { ConsolidationCandidate } from './payback.ts';

/**
 * `maxSurge` of a Deployment that says nothing of it. What one does say is read at its restart.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#max-surge
 */
const SURGE_SHARE = 0.25;

/** As another pod of its ReplicaSet that waits. */
function copyOf(pod: Pod, number: number): Pod {
  const name = `${pod.name}-surge-${number}`;
  return { ...asWaiting(pod), name, uid: name };
}

/**
 * Pods that there may be at once beyond those that have a place after the move, while Deployments
 * of its pods are restarted: kube-controller-manager may end the pods on the leaving nodes first,
 * and then starts others while those elsewhere still run.
 */
function surgeOf(pods: readonly Pod[], leaving: readonly Pod[]): readonly Pod[] {
  const bySet = Map.groupBy(leaving, ({ controller }) => controller?.uid);
  return [...bySet].flatMap(([uid, own]) => {
    const [first] = own;
    const all = pods.filter((pod) => isLive(pod) && pod.controller?.uid === uid).length;
    const count = Math.min(Math.ceil(all * SURGE_SHARE), all - own.length);
    const numbers = Array.from({ length: count }, (_, at) => at);
    return first === undefined ? [] : numbers.map((at) => copyOf(first, at));
  });
}

/** A move as it is judged here. */
interface Moving {
  /** The cluster in which the nodes leave. */
  readonly without: ClusterSnapshot;
  readonly nodes: readonly Pick<ConsolidationCandidate, 'pods'>[];
  /** Pods that go to nodes which are there. */
  readonly elsewhere: Places;
}

/** What there is at the height of a restart. */
interface Height {
  /** One of the pods whose Deployment is restarted. */
  readonly first: Pod;
  /** Pods beyond the replicas. */
  readonly surge: readonly Pod[];
  /** Where these and the pods of the nodes that leave find places, nodes that open among them. */
  readonly open: ClusterSnapshot;
  readonly plan: Plan;
}

/** What a restart needs beyond the move. */
export interface Surge {
  /** USD an hour, at most, of nodes that are launched for it and may have pods after it. */
  readonly price: number;
  /** Why the move is not made if that price is too high. */
  readonly reason: Reason;
}

/**
 * How many nodes a restart leaves empty at least: as many of the places that there are at its
 * height are empty at its end as there were pods beyond the replicas. A node where the pod was not
 * alone stays.
 */
function emptyAfter(
  { pods, nodes }: ClusterSnapshot,
  surge: readonly Pod[],
  { newNodeClaims }: Plan,
): number {
  const sets = new Set(surge.map(({ controller }) => controller?.uid));
  const byKey = new Map([...pods, ...surge].map((pod) => [podKey(pod), pod]));
  const left = new Set(nodes.filter((node) => !isDisrupted(node)).map(({ name }) => name));
  const there = pods.filter((pod) => isReschedulable(pod) && left.has(pod.nodeName ?? ''));
  const hosts = [
    ...Map.groupBy(there, ({ nodeName }) => nodeName).values(),
    ...newNodeClaims.map((claim) => claim.pods.flatMap((key) => byKey.get(key) ?? [])),
  ];
  const shared = hosts
    .filter((host) => host.length > 1)
    .flatMap((host) => host.filter(({ controller }) => sets.has(controller?.uid)));
  return Math.max(0, surge.length - shared.length);
}

/** USD an hour of the planned nodes without so many of the cheapest. */
function staying(planned: readonly PlannedNodeClaim[], without: number): number {
  const prices = planned.map(({ chosen }) => chosen.price).sort((a, b) => b - a);
  const kept = prices.slice(0, Math.max(0, prices.length - without));
  return kept.reduce((sum, price) => sum + price, 0);
}

/** Plans for as many pods as a restart of the Deployments may have at once; undefined: none has more. */
export function heightOf(
  { without, nodes, elsewhere }: Moving,
  settings: SchedulingSettings,
): Height | undefined {
  const leaving = nodes
    .flatMap(({ pods }) => pods)
    .filter((pod) => isReschedulable(pod) && isRolledOut(pod) && drainFault(pod) === undefined)
    .sort((a, b) => (podKey(a) < podKey(b) ? -1 : 1));
  const [first] = leaving;
  if (first === undefined) return undefined;
  const surge = surgeOf(without.pods, leaving);
  if (surge.length === 0) return undefined;
  // Nodes whose pods have just changed take such pods in, too.
  const { closedNodes: _, ...open } = withPlaces(without, elsewhere);
  return {
    first,
    surge,
    open,
    plan: replan({ ...open, pods: [...open.pods, ...surge] }, settings),
  };
}

/**
 * What it takes that the pods of the nodes move by a restart of their Deployments; undefined: no
 * more than the move itself, which launches the planned nodes. Infinite: pods would have no place.
 */
export function surgeFor(
  { planned, ...moving }: Moving & { readonly planned: readonly PlannedNodeClaim[] },
  settings: SchedulingSettings,
): Surge | undefined {
  const height = heightOf(moving, settings);
  if (height === undefined) return undefined;
  const { first, surge, open, plan } = height;
  const isPlaced = surge.every((pod) => !plan.unplaced.has(podKey(pod)));
  // As many nodes, of which one is larger, take the pods once those are fewer again.
  if (isPlaced && plan.newNodeClaims.length <= planned.length) return undefined;
  const stay = staying(plan.newNodeClaims, emptyAfter(open, surge, plan));
  const price = isPlaced ? stay - staying(planned, 0) : Number.POSITIVE_INFINITY;
  if (price <= 0) return undefined;
  const obstacle = isPlaced
    ? 'the nodes for that cost more than the move saves'
    : 'there is no room for the pods that it has more meanwhile';
  const why = `its Deployment is restarted, and ${obstacle}`;
  return { price, reason: reason('pod-would-wait', { pod: podKey(first), why }) };
}
