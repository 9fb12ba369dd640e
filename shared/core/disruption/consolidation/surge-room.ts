import { type Reason, reason } from '../../explain/reason.ts';
import { drainFault, isRolledOut } from '../../lifecycle/drain.ts';
import { isLive, type Pod, podKey } from '../../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
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
  const waiting = { nodeName: undefined, nominatedNodeName: undefined, unschedulable: true };
  return { ...pod, ...waiting, phase: 'Pending', name, uid: name };
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
  readonly nodes: readonly ConsolidationCandidate[];
  /** Pods that go to nodes which are there. */
  readonly elsewhere: Places;
  /** Nodes that it launches. */
  readonly launches: number;
}

/**
 * Why a restart of their Deployments may not move the pods of the nodes; undefined: it may.
 * A restart that needs a node more would launch it, and leave it for the next move, without end.
 */
export function withoutSurgeRoom(
  { without, nodes, elsewhere, launches }: Moving,
  settings: SchedulingSettings,
): Reason | undefined {
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
  const plan = replan({ ...open, pods: [...open.pods, ...surge] }, settings);
  const isPlaced = surge.every((pod) => !plan.unplaced.has(podKey(pod)));
  if (isPlaced && plan.newNodeClaims.length <= launches) return undefined;
  const why = 'its Deployment is restarted, and would need one more node meanwhile';
  return reason('pod-would-wait', { pod: podKey(first), why });
}
