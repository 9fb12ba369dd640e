import { conditionOf } from '../lifecycle/conditions.ts';
import { holdsNode } from '../lifecycle/drain.ts';
import { isPending, plannedPods } from '../lifecycle/planned-pods.ts';
import type { Pod } from '../model/pod.ts';
import type { DurationOrNever, NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { replan } from '../scheduling/replan.ts';
import { type Candidate, isMoving } from './candidates.ts';

/** On a claim whose node nothing runs on, where its NodePool wants it kept for a while. */
export const EMPTY = 'Empty';

/** A pod that has been told to go and is not gone yet; whether it comes back nobody knows. */
function isGoing(pod: Pod, nowMs: number): boolean {
  const isOfNode = pod.controller?.kind === 'DaemonSet' || pod.controller?.kind === 'Node';
  return pod.deletedAtMs !== undefined && !isOfNode && holdsNode(pod, nowMs);
}

/** Whether nothing runs on the node but what runs on every node, and nothing is still ending there. */
export function isIdle({ pods }: Pick<Candidate, 'pods'>, nowMs: number): boolean {
  return !pods.some((pod) => isMoving(pod) || isGoing(pod, nowMs));
}

/** Whether an idle node has to be empty for a while before it may go. */
export function isWaitedFor(consolidateAfter: DurationOrNever): boolean {
  return consolidateAfter !== 'Never' && consolidateAfter > 0;
}

/** When a node that is idle may go; undefined: never, or nobody has noted yet since when it is. */
export function dueAtMs(claim: NodeClaim, consolidateAfter: DurationOrNever): number | undefined {
  if (consolidateAfter === 'Never') return undefined;
  if (consolidateAfter === 0) return 0;
  const empty = conditionOf(claim, EMPTY);
  return empty?.status === 'True' ? empty.lastTransitionAtMs + consolidateAfter : undefined;
}

/**
 * The idle nodes without which pods that wait, that leave other nodes, or that stand for the room
 * of a CapacityBuffer, need no other node than with them. Where another plan would need fewer, it
 * is the next pass's.
 */
export function notNeeded<Each extends Candidate>(
  snapshot: ClusterSnapshot,
  idle: readonly Each[],
  settings: SchedulingSettings,
): readonly Each[] {
  const pending = new Set(snapshot.pods.filter(isPending).map(({ uid }) => uid));
  const unasked = idle.filter(({ claim }) => !plannedPods(claim).some((uid) => pending.has(uid)));
  if (unasked.length === 0) return [];
  const { existing } = replan(snapshot, settings);
  const used = new Set(existing.map(({ node }) => node));
  return unasked.filter(({ node }) => !used.has(node.name));
}
