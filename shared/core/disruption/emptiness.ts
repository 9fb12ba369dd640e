import { isStuck } from '../lifecycle/drain.ts';
import type { Condition } from '../model/cluster.ts';
import type { Pod } from '../model/pod.ts';
import type { DurationOrNever, NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { replan } from '../scheduling/replan.ts';
import { type Candidate, isEmpty } from './candidates.ts';
import { withAllWaiting } from './simulation.ts';

/** On a claim whose node nothing runs on, where its NodePool wants it kept for a while. */
const EMPTY = 'Empty';
/** Old versions of Karpenter had a condition of that name, too: theirs says nothing of now. */
const NO_PODS = 'NoPods';

/** A pod that has been told to go and is not gone yet; whether it comes back nobody knows. */
function isGoing(pod: Pod, nowMs: number): boolean {
  const { controller, deletedAtMs, phase } = pod;
  const isOfNode = controller?.kind === 'DaemonSet' || controller?.kind === 'Node';
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  return deletedAtMs !== undefined && !isOfNode && !isOver && !isStuck(pod, nowMs);
}

/** Whether nothing runs on the node but what runs on every node, and nothing is still ending there. */
export function isIdle(candidate: Pick<Candidate, 'pods'>, nowMs: number): boolean {
  return isEmpty(candidate) && !candidate.pods.some((pod) => isGoing(pod, nowMs));
}

function isOurs({ type, reason }: Condition): boolean {
  return type === EMPTY && reason === NO_PODS;
}

/** Since when the claim's node is empty, as a pass has noted; undefined: none has. */
export function emptySinceMs({ conditions }: Pick<NodeClaim, 'conditions'>): number | undefined {
  return conditions.find(isOurs)?.lastTransitionAtMs;
}

/** The conditions of a claim whose node is empty, with since when; of another one, without. */
export function withEmptiness(
  conditions: readonly Condition[],
  isNoted: boolean,
  nowMs: number,
): readonly Condition[] {
  const known = conditions.find(isOurs);
  const others = conditions.filter(({ type }) => type !== EMPTY);
  if (!isNoted) return others;
  const message = 'No pods run on its node but those of DaemonSets';
  const lastTransitionAtMs = known?.lastTransitionAtMs ?? nowMs;
  const empty = {
    type: EMPTY,
    status: 'True',
    reason: NO_PODS,
    message,
    lastTransitionAtMs,
  } as const;
  return [...others, empty].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** How long a node has to be empty before it may go; undefined: it never may. */
function waitMsOf(consolidateAfter: DurationOrNever): number | undefined {
  return consolidateAfter === 'Never' ? undefined : consolidateAfter;
}

/** Whether it matters since when a node is empty. */
export function isWaitedFor(consolidateAfter: DurationOrNever): boolean {
  return (waitMsOf(consolidateAfter) ?? 0) > 0;
}

/** Whether an idle node has been so for long enough. */
export function isDue(claim: NodeClaim, consolidateAfter: DurationOrNever, nowMs: number): boolean {
  const waitMs = waitMsOf(consolidateAfter);
  if (waitMs === undefined) return false;
  if (waitMs === 0) return true;
  const sinceMs = emptySinceMs(claim);
  return sinceMs !== undefined && nowMs >= sinceMs + waitMs;
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
