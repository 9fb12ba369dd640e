import type { Node } from '../model/cluster.ts';
import { INTERRUPTED, REGISTERED } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { DISRUPTED, isDisrupted } from '../model/taint.ts';
import {
  type ClaimSurroundings,
  instanceIdOf,
  type LifecycleAction,
  type SeenTaint,
  TERMINATION_FINALIZER,
  TERMINATION_TIMESTAMP,
} from './actions.ts';
import { type ConditionClaim, conditionOf, isTrue } from './conditions.ts';
import { drainStep } from './drain.ts';

/**
 * A drain takes this long at least, from when its node was seen to be tainted: endpoints and
 * balancers follow, and what kube-scheduler has bound before it knew of the taint is evicted.
 */
const DRAIN_MS_MIN = 5_000;
/** The API server keeps times to the second: what it says may be so much too early. */
const SECOND_MS = 1_000;

function says(type: string, status: 'True' | 'Unknown' | 'False', reason: string): ConditionClaim {
  return { type, status, reason, message: '' };
}

function isSaid(claim: NodeClaim, { type, status, reason }: ConditionClaim): boolean {
  const now = conditionOf(claim, type);
  return now?.status === status && now.reason === reason;
}

/** The last time that can be written (ECMA-262, time values); some grace periods end later. */
const TIME_MS_MAX = 8_640_000_000_000_000;

/** When the drain must be over; undefined: it may take as long as it takes. */
export function deadlineOf(claim: NodeClaim): number | undefined {
  const written = Date.parse(claim.annotations[TERMINATION_TIMESTAMP] ?? '');
  if (!Number.isNaN(written)) return written;
  const { terminationGracePeriodMs: grace, deletedAtMs } = claim;
  if (grace === undefined || deletedAtMs === undefined) return undefined;
  return Math.min(TIME_MS_MAX, deletedAtMs + grace);
}

function announceDeadline(claim: NodeClaim, deadlineMs: number | undefined): LifecycleAction[] {
  if (deadlineMs === undefined || claim.annotations[TERMINATION_TIMESTAMP] !== undefined) return [];
  const annotations = { [TERMINATION_TIMESTAMP]: new Date(deadlineMs).toISOString() };
  return [{ kind: 'annotate', annotations }];
}

function finish(claim: NodeClaim, around: ClaimSurroundings): LifecycleAction[] {
  const nodes = around.nodes.flatMap((node): LifecycleAction[] => [
    ...(node.deletedAtMs === undefined ? [{ kind: 'delete-node', node } as const] : []),
    { kind: 'finalize-node', node },
  ]);
  const held = claim.finalizers.includes(TERMINATION_FINALIZER);
  return [...nodes, ...(held ? [{ kind: 'finalize-claim' } as const] : [])];
}

function terminate(
  claim: NodeClaim,
  around: ClaimSurroundings,
  deadlineMs?: number,
): LifecycleAction[] {
  const instanceId = instanceIdOf(claim.providerId);
  if (instanceId === undefined || around.instance === 'absent') return finish(claim, around);
  if (around.instance === 'shutting-down') return [];
  const isPastDeadline = deadlineMs !== undefined && around.nowMs >= deadlineMs;
  return [
    { kind: 'terminate', instanceId, isPastDeadline },
    { kind: 'conditions', set: [says('InstanceTerminating', 'True', 'InstanceTerminating')] },
  ];
}

/** What a process knows of the node's taint, having read the node once more. */
export function seenTaint(node: Node, before: SeenTaint | undefined, nowMs: number): SeenTaint {
  if (!isDisrupted(node)) return { freeAtMs: nowMs };
  return { taintedSinceMs: nowMs, ...before };
}

/**
 * Whether no pod can come any more that an earlier look at the node has not shown. This process has
 * seen the taint long enough, whatever could be written on the claim; or the claim says that
 * another has, unless the node was without the taint since.
 */
function isSettled(claim: NodeClaim, { nodes, nowMs, seenTaints }: ClaimSurroundings): boolean {
  const drained = conditionOf(claim, 'Drained');
  return nodes.every((node) => {
    const { freeAtMs = Number.NEGATIVE_INFINITY, taintedSinceMs = nowMs } =
      seenTaints?.get(node.uid) ?? {};
    if (!isDisrupted(node)) return false;
    if (nowMs >= taintedSinceMs + DRAIN_MS_MIN) return true;
    if (drained === undefined || drained.lastTransitionAtMs <= freeAtMs) return false;
    const sinceMs = drained.lastTransitionAtMs + SECOND_MS;
    return drained.status === 'True' || nowMs >= sinceMs + DRAIN_MS_MIN;
  });
}

/** A rollout that takes longer is not waited for; EC2 waits for none. */
const ROLLOUT_MS = 15 * 60_000;

function rolloutEndOf({ annotations, deletedAtMs }: NodeClaim): number | undefined {
  if (annotations[INTERRUPTED] !== undefined || deletedAtMs === undefined) return undefined;
  return deletedAtMs + ROLLOUT_MS;
}

/** Taint and drain; true when the instance may go. */
function drain(
  claim: NodeClaim,
  around: ClaimSurroundings,
  deadlineMs: number | undefined,
): { readonly actions: LifecycleAction[]; readonly isOver: boolean } {
  const actions: LifecycleAction[] = [];
  for (const node of around.nodes) {
    if (!isDisrupted(node)) {
      actions.push({ kind: 'taint-node', node, taints: [...node.taints, DISRUPTED] });
    }
    if (node.deletedAtMs === undefined) actions.push({ kind: 'delete-node', node });
  }
  const { nowMs } = around;
  const step = drainStep(around.pods, deadlineMs, nowMs, rolloutEndOf(claim));
  if (step.evict.length > 0) actions.push({ kind: 'evict', pods: step.evict });
  if (step.restart.length > 0) actions.push({ kind: 'restart', pods: step.restart });
  if (step.keep.length > 0) actions.push({ kind: 'keep', pods: step.keep });
  for (const each of step.remove) actions.push({ kind: 'remove-pod', ...each });
  const isPastDeadline = deadlineMs !== undefined && nowMs >= deadlineMs;
  if ((step.waiting.length > 0 || !isSettled(claim, around)) && !isPastDeadline) {
    // Only what has been read counts: the time of the condition is then that of a tainted node.
    if (conditionOf(claim, 'Drained') === undefined && around.nodes.every(isDisrupted)) {
      actions.push({ kind: 'conditions', set: [says('Drained', 'Unknown', 'Draining')] });
    }
    return { actions, isOver: false };
  }
  if (around.blockingAttachments.length > 0 && !isPastDeadline) {
    const said = [
      says('Drained', 'True', 'Drained'),
      says('VolumesDetached', 'Unknown', 'AwaitingVolumeDetachment'),
    ];
    const set = said.filter((each) => !isSaid(claim, each));
    if (set.length > 0) actions.push({ kind: 'conditions', set });
    return { actions, isOver: false };
  }
  const detached =
    around.blockingAttachments.length === 0
      ? says('VolumesDetached', 'True', 'VolumesDetached')
      : says('VolumesDetached', 'False', 'TerminationGracePeriodElapsed');
  actions.push({ kind: 'conditions', set: [says('Drained', 'True', 'Drained'), detached] });
  return { actions, isOver: true };
}

/** What to do next with a claim that is being deleted: taint, drain, detach, end. */
export function terminationActions(
  claim: NodeClaim,
  around: ClaimSurroundings,
): readonly LifecycleAction[] {
  const isRegistered =
    isTrue(claim, 'Registered') || around.nodes.some((node) => node.labels[REGISTERED] === 'true');
  const nodesReady = around.nodes.some((node) => isTrue(node, 'Ready'));
  if (around.instance === 'absent' && !nodesReady) return finish(claim, around);
  if (!isRegistered || around.nodes.length === 0) return terminate(claim, around);
  if (isTrue(claim, 'InstanceTerminating')) return terminate(claim, around);
  const deadlineMs = deadlineOf(claim);
  const announced = announceDeadline(claim, deadlineMs);
  const { actions, isOver } = drain(claim, around, deadlineMs);
  return [...announced, ...actions, ...(isOver ? terminate(claim, around, deadlineMs) : [])];
}
