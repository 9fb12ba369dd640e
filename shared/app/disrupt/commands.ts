import { blockersOf } from '../../core/disruption/candidates.ts';
import { type Command, forgottenNodes } from '../../core/disruption/commands.ts';
import { heldMoves, isHeldTooLong } from '../../core/disruption/held-moves.ts';
import { VOLUNTARY_TERMS, type VoluntaryReason } from '../../core/disruption/voluntary.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { invariant } from '../../core/invariant.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import { conditionOf, isTrue, withConditions } from '../../core/lifecycle/conditions.ts';
import { type EvictionOrder, evictionOrderText } from '../../core/lifecycle/eviction-order.ts';
import { replacedByText } from '../../core/model/annotations/replacements.ts';
import type { Node } from '../../core/model/cluster.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import {
  APPROVED,
  EVICTION_ORDER,
  NODE_POOL,
  REPLACED_BY,
  REPLACED_FOR,
} from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { DISRUPTED, isDisrupted, type Taint } from '../../core/model/taint.ts';
import { pauseWindow } from '../../core/pause-windows.ts';
import type { WriteResult } from '../../ports.ts';
import { isPaused } from '../settings.ts';
import { approvedAnnotation, isApproved } from '../writes/approval.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import { recordEvent } from '../writes/claim-events.ts';
import { recordDecision, sayingAll } from '../writes/decisions.ts';
import { deleteWithEvents, detailOf, recordDeletion } from '../writes/deletions.ts';
import { claimRef, nodeRef } from '../writes/references.ts';
import { pausedByPool } from './blocked.ts';
import { isWithinBudgets } from './budgets.ts';
import { noteFailedMove, noteMoved } from './failed-moves.ts';
import { type Failed, release } from './given-up.ts';
import { forgetHolding, heldMovesOnceEnded, holdersOf, noteHeld, publishHeld } from './held.ts';
import { type DisruptPass, mayChoose, poolOf } from './pass.ts';
import { noteMovedPods } from './undone-moves.ts';

/** On a claim whose node is being replaced or removed. */
const CONDITION = 'DisruptionReason';

/** Nodes change all the time: only the taints have to be those that were read. */
async function setTaints(
  { ports }: DisruptPass,
  node: Node,
  taints: readonly Taint[],
): Promise<WriteResult> {
  return await ports.cluster.patchNode(nodeRef(node), { taints, taintsBefore: node.taints });
}

/** Keeps new pods off the node and says on the claim why; repeated writes change nothing. */
async function taintDisrupted(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Node | undefined,
  why: VoluntaryReason,
): Promise<WriteResult> {
  pass.changes.begun.add(claim.uid);
  if (node !== undefined && !isDisrupted(node)) {
    const result = await setTaints(pass, node, [...node.taints, DISRUPTED]);
    if (result !== 'done') return result;
  }
  const reason = {
    type: CONDITION,
    status: 'True',
    reason: why,
    message: '',
  } as const;
  if (isTrue(claim, CONDITION)) return 'done';
  const { ports, nowMs } = pass;
  return await ports.cluster.patchNodeClaimStatus(claimRef(claim), {
    conditions: (now) => withConditions(now, [reason], nowMs),
  });
}

/** Why no method may begin to disrupt the node, whatever it has chosen it by; empty: it may. */
function refusals(pass: DisruptPass, claim: NodeClaim, node: Node, why: VoluntaryReason) {
  const { state, nowMs, approved } = pass;
  invariant(mayChoose(pass, claim, why), 'of approved decisions only their nodes are disrupted');
  if (approved === undefined && isPaused(state.pausedUntilMs.disrupt, nowMs)) {
    return [reason('disruptions-paused', {})];
  }
  const paused = pausedByPool(pass, poolOf(pass, claim));
  if (paused.length > 0) return paused;
  const { pods, podDisruptionBudgets } = state.objects;
  const candidate = { claim, node, pods: podsOnNode(pods, node.name) };
  const blockers = blockersOf(candidate, podDisruptionBudgets, nowMs, VOLUNTARY_TERMS[why].class);
  const isAllowed = isWithinBudgets(pass, claim, why);
  return isAllowed ? blockers : [...blockers, reason('budget-blocks', { reason: why })];
}

/** Whether the node may be disrupted for the reason; where not, an event says why. */
async function mayBegin(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Node | undefined,
  why: VoluntaryReason,
): Promise<boolean> {
  const reasons = node === undefined ? [] : refusals(pass, claim, node, why);
  if (reasons.length === 0) {
    pass.changes.chosen.add(claim.uid);
    return true;
  }
  const event = { type: 'Normal', reason: 'DisruptionBlocked', ...sayingAll(reasons) } as const;
  await recordEvent(pass, claim, node, event);
  return false;
}

/**
 * Begins to disrupt a node: keeps new pods off it and says on the claim why. Refused with an event
 * where disruptions are paused, or `do-not-disrupt`, a PodDisruptionBudget or a disruption budget of
 * the NodePool blocks the node.
 */
export async function beginDisruption(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Node,
  why: VoluntaryReason,
): Promise<WriteResult> {
  if (!(await mayBegin(pass, claim, node, why))) return 'conflict';
  return await taintDisrupted(pass, claim, node, why);
}

/**
 * Removes the taint and the condition again. Repeated, it changes nothing. A claim that was read
 * before {@link taintDisrupted} does not say that it has the condition.
 */
export async function untaint(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Node | undefined,
  hasCondition = conditionOf(claim, CONDITION) !== undefined,
): Promise<void> {
  if (node !== undefined) {
    const taints = node.taints.filter(({ key }) => key !== DISRUPTED.key);
    if (taints.length < node.taints.length) {
      await setTaints(pass, node, taints);
    }
  }
  if (!hasCondition) return;
  await pass.ports.cluster.patchNodeClaimStatus(claimRef(claim), {
    conditions: (now) => now.filter(({ type }) => type !== CONDITION),
  });
}

/** Deletes the claim of a node whose disruption has begun; `lifecycle` drains the node. */
export async function deleteNodeClaim(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Node | undefined,
  why: { readonly reason: VoluntaryReason; readonly reasons: readonly Reason[] },
): Promise<void> {
  invariant(pass.changes.begun.has(claim.uid), 'a node is deleted once its disruption has begun');
  const { ports, nowMs: atMs } = pass;
  const deletion = {
    claim,
    node,
    useCase: 'disrupt',
    atMs,
    said: reason('node-disrupting', { reason: why.reason }),
    reasons: why.reasons,
    label: why.reason.toLowerCase(),
  } as const;
  await deleteWithEvents(ports, deletion);
  pass.outcome.deleted.push(claim.name);
  await recordDeletion(ports, deletion);
}

/** Deletes a claim that is replaced or removed: its pods have a place. */
export async function deleteReplaced(
  pass: DisruptPass,
  { claim, node }: Pick<Command, 'claim' | 'node'>,
  kind: VoluntaryReason,
  replacements: readonly string[],
): Promise<void> {
  if (kind === 'Fallback') pass.memory.returns.succeed(claim.labels[NODE_POOL] ?? '');
  const drift = kind === 'Drifted' ? pass.driftResults.get(claim.uid)?.drifts[0] : undefined;
  const why = drift?.why ?? VOLUNTARY_TERMS[kind].why;
  const by =
    replacements.length === 0
      ? reason('no-replacement-needed', {})
      : reason('replacements-ready', { nodeClaims: replacements });
  await deleteNodeClaim(pass, claim, node, { reason: kind, reasons: [why, by] });
}

/**
 * Gives a replacement up: the node stays. The claim forgets its replacements last, so that a run
 * that is cut short is repeated. `held`: pods held the node for too long.
 */
async function rollBack(
  pass: DisruptPass,
  { claim, node, replacements, reason: kind }: Command,
  reasons: readonly [Reason, ...Reason[]],
  cause?: Failed | 'held',
): Promise<void> {
  const { ports, nowMs } = pass;
  pass.changes.givenUp.add(claim.uid);
  const failure = cause === 'held' ? undefined : cause;
  const backsOff = kind !== undefined && VOLUNTARY_TERMS[kind].backsOff;
  if (failure?.broken !== undefined && backsOff) {
    await noteFailedMove(pass, failure.broken, reasons[0]);
  }
  if (cause !== undefined && kind === 'Fallback') {
    pass.memory.returns.fail(claim.labels[NODE_POOL] ?? '', nowMs);
  }
  const moves = heldMovesOnceEnded(claim, nowMs, cause === 'held');
  // First of all: where a later write fails, the next pass sees a replacement that is gone.
  if (cause === 'held') await ports.cluster.patchNodeClaim(claimRef(claim), { annotations: moves });
  for (const each of replacements) await release(pass, each, failure);
  await untaint(pass, claim, node);
  const id = `disrupt-${claim.name}-given-up-${nowMs}`;
  const said = { ...sayingAll(reasons), decision: id };
  const blocked = { type: 'Normal', reason: 'DisruptionBlocked', ...said } as const;
  await recordEvent(pass, claim, node, blocked);
  const decision = {
    id,
    atMs: nowMs,
    useCase: 'disrupt',
    object: `NodeClaim/${claim.name}`,
    action: 'none',
    reasons,
    detail: detailOf(claim, 'replacement-failed'),
  } as const;
  await recordDecision({ ports }, decision);
  const labels = { decision: 'replace', reason: kind?.toLowerCase() ?? '', consolidation_type: '' };
  ports.recorder.count('voluntary_disruption_queue_failures_total', labels);
  const approved = isApproved(claim, 'disrupt') ? { [APPROVED]: null } : {};
  const ended = { [REPLACED_BY]: null, [REPLACED_FOR]: null, [EVICTION_ORDER]: null };
  const annotations = { ...ended, ...approved, ...moves };
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
}

/** Why nodes are replaced, and how they are drained then. */
export interface ReplacedBecause {
  readonly reason: VoluntaryReason;
  /** In which their pods are evicted one after the other; by default all at once. */
  readonly evictionOrder?: EvictionOrder | undefined;
}

/** Whether disruption is paused, by whoever, or by a window of the claim's NodePool. */
function isPausedNow(pass: DisruptPass, claim: NodeClaim): boolean {
  const { state, nowMs } = pass;
  const pool = poolOf(pass, claim);
  const window = pool && pauseWindow(pool, 'disrupt', nowMs);
  return window !== undefined || isPaused(state.pausedUntilMs.disrupt, nowMs);
}

/** Before its replacements are written: where a run is cut short then, they count as gone. */
export async function annotateReplaced(
  pass: DisruptPass,
  claim: NodeClaim,
  names: readonly string[],
  { reason, evictionOrder }: ReplacedBecause,
): Promise<WriteResult> {
  const { ports, state, approved } = pass;
  const node = nodeOfClaim(state.objects.nodes, claim);
  if (!(await mayBegin(pass, claim, node, reason))) return 'conflict';
  const why = {
    ...(reason === 'Drifted' ? {} : { [REPLACED_FOR]: reason }),
    ...(evictionOrder === undefined ? {} : { [EVICTION_ORDER]: evictionOrderText(evictionOrder) }),
  };
  const isHeld = approved !== undefined && isPausedNow(pass, claim);
  const approval = isHeld ? approvedAnnotation('disrupt') : {};
  const annotations = { [REPLACED_BY]: replacedByText(names), ...why, ...approval };
  return await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
}

/** Whether a node that is only to go for the money is held by its pods now, and what becomes of it. */
async function isHeldByPods(pass: DisruptPass, command: Command): Promise<boolean> {
  const [first, ...others] = holdersOf(pass, command, 'graceful');
  if (first === undefined) return false;
  if (isHeldTooLong(heldMoves(command.claim.annotations), pass.nowMs)) {
    await rollBack(pass, command, [first, ...others], 'held');
  } else {
    await noteHeld(pass, command, [first, ...others]);
  }
  return true;
}

/** A static node takes pods until its replacement is ready: some may hold it since. */
async function isHeldBack(pass: DisruptPass, command: Command): Promise<boolean> {
  const reasons = holdersOf(pass, command, 'eventual');
  if (reasons.length > 0) await publishHeld(pass, command, reasons);
  return reasons.length > 0;
}

/** The pause is over in which it was approved: the next one is to hold it. */
async function endApproval({ ports }: DisruptPass, claim: NodeClaim): Promise<void> {
  if (!isApproved(claim, 'disrupt')) return;
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations: { [APPROVED]: null } });
}

async function follow(pass: DisruptPass, command: Command): Promise<void> {
  const { claim, node, replacements, progress, reason: kind } = command;
  const names = replacements.map(({ name }) => name);
  const { drifts, target, isUndecided } = pass.driftResults.get(claim.uid) ?? {};
  const isAsAsked = drifts?.length === 0 && target?.nodeClass !== undefined;
  const terms = kind && VOLUNTARY_TERMS[kind];
  if (terms?.endsOnceAsAsked === true && isAsAsked && isUndecided !== true) {
    await rollBack(pass, command, [reason('node-as-asked-again', {})]);
    return;
  }
  if (progress.kind === 'failed') {
    await rollBack(pass, command, [progress.why], progress);
    return;
  }
  invariant(kind !== undefined && terms !== undefined, 'a command without a known reason fails');
  const isHeld = isPausedNow(pass, claim);
  if (isHeld && !isApproved(claim, 'disrupt')) {
    await forgetHolding(pass, claim);
    return;
  }
  if (!isHeld) await endApproval(pass, claim);
  // The pods of a static node have no other place before its replacement is there.
  const isStatic = poolOf(pass, claim)?.replicas !== undefined;
  if (isStatic && (progress.kind !== 'ready' || (await isHeldBack(pass, command)))) return;
  const isReady = progress.kind === 'ready';
  if (isReady && terms.yieldsToPods && (await isHeldByPods(pass, command))) return;
  const held = await taintDisrupted(pass, claim, node, kind);
  if (!isReady || held !== 'done') return;
  await deleteReplaced(pass, command, kind, names);
  if (terms.backsOff) await noteMoved(pass, replacements);
}

/** Goes on with what earlier passes have begun, and opens nodes that they have forgotten. */
export async function followCommands(pass: DisruptPass): Promise<void> {
  const { state, commands, outcome } = pass;
  for (const command of commands) {
    const step = () => follow(pass, command);
    outcome.failures.push(...(await attempt(`NodeClaim/${command.claim.name}`, step)));
  }
  const isMoved = ({ claim, reason }: Command): boolean =>
    reason === 'Underutilized' && pass.outcome.deleted.includes(claim.name);
  const moved = commands.filter(isMoved).map(({ claim }) => claim);
  await noteMovedPods(pass, moved);
  const { nodeClaims, nodes } = state.objects;
  const ours = nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  await atOnce(WRITES_AT_ONCE, forgottenNodes(ours, nodes, commands), async ({ claim, node }) => {
    const step = () => untaint(pass, claim, node);
    outcome.failures.push(...(await attempt(`Node/${node.name}`, step)));
  });
}
