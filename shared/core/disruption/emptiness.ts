import { isStuck } from '../lifecycle/drain.ts';
import { isOver, type Pod } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { replan } from '../scheduling/replan.ts';
import { type Candidate, isEmpty } from './candidates.ts';
import { withAllWaiting } from './simulation.ts';

/** A pod that has been told to go and is not gone yet; whether it comes back nobody knows. */
function isGoing(pod: Pod, nowMs: number): boolean {
  const { controller, deletedAtMs } = pod;
  const isOfNode = controller?.kind === 'DaemonSet' || controller?.kind === 'Node';
  return deletedAtMs !== undefined && !isOfNode && !isOver(pod) && !isStuck(pod, nowMs);
}

/** Whether nothing runs on the node but what runs on every node, and nothing is still ending there. */
export function isIdle(candidate: Pick<Candidate, 'pods'>, nowMs: number): boolean {
  return isEmpty(candidate) && !candidate.pods.some((pod) => isGoing(pod, nowMs));
}

/**
 * The idle nodes that a plan with all nodes in place has no use for: not for pods that wait,
 * whether kube-scheduler has tried them yet or not, nor for those that leave other nodes or stand
 * for the room of a CapacityBuffer. Where another plan would use fewer nodes, those are the next
 * pass's.
 */
export function notNeeded<Each extends Candidate>(
  snapshot: ClusterSnapshot,
  idle: readonly Each[],
  settings: SchedulingSettings,
): readonly Each[] {
  if (idle.length === 0) return [];
  const { existing } = replan(withAllWaiting(snapshot), settings);
  const used = new Set(existing.map(({ node }) => node));
  return idle.filter(({ node }) => !used.has(node.name));
}
