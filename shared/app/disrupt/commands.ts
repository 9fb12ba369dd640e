import { blockedBy } from '../../core/disruption/candidates.ts';
import {
  type Command,
  forgottenNodes,
  type Progress,
  replacedByText,
  replacedUids,
  replacesText,
} from '../../core/disruption/commands.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import { conditionOf, isTrue, withConditions } from '../../core/lifecycle/conditions.ts';
import { type EvictionOrder, evictionOrderText } from '../../core/lifecycle/eviction-order.ts';
import type { Node } from '../../core/model/cluster.ts';
import {
  APPROVED,
  CAPACITY_TYPE,
  EVICTION_ORDER,
  NODE_POOL,
  REPLACED_BY,
  REPLACED_FOR,
  REPLACES,
  TRIES,
} from '../../core/model/labels.ts';
import type { DisruptionReason, NodeClaim } from '../../core/model/provisioning.ts';
import { DISRUPTED, isDisrupted, type Taint } from '../../core/model/taint.ts';
import type { WriteResult } from '../../ports.ts';
import { isPaused } from '../settings.ts';
import { approvedAnnotation, isApproved } from '../writes/approval.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import { claimRef, nodeRef } from '../writes/references.ts';
import { recordEvent } from './events.ts';
import { noteFailedMove } from './failed-moves.ts';
import { type DisruptPass, detailOf, poolOf } from './pass.ts';

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
export async function taintDisrupted(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Node | undefined,
  why: DisruptionReason,
): Promise<WriteResult> {
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

/** The claim goes, and `lifecycle` drains its node. */
export async function deleteNodeClaim(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Node | undefined,
  why: { readonly reason: DisruptionReason; readonly message: string },
): Promise<void> {
  const { ports, nowMs } = pass;
  await recordEvent(pass, claim, node, {
    type: 'Normal',
    reason: 'DisruptionTerminating',
    message: `Disrupting Node: ${why.reason}`,
  });
  await ports.cluster.delete(claimRef(claim));
  pass.deleted.push(claim.name);
  const { [NODE_POOL]: nodepool = '', [CAPACITY_TYPE]: capacity_type = '' } = claim.labels;
  const reason = why.reason.toLowerCase();
  ports.recorder.count('nodeclaims_disrupted_total', { reason, nodepool, capacity_type });
  await ports.recorder.decision({
    id: `disrupt-${claim.name}-delete`,
    atMs: nowMs,
    useCase: 'disrupt',
    object: `NodeClaim/${claim.name}`,
    action: 'delete',
    message: why.message,
    detail: detailOf(claim, reason),
  });
}

/** What is to be replaced or removed goes: its pods have where to go. */
export async function deleteReplaced(
  pass: DisruptPass,
  { claim, node, reason }: Pick<Command, 'claim' | 'node' | 'reason'>,
  replacements: readonly string[],
): Promise<void> {
  const drift = pass.driftResults.get(claim.uid)?.drifts[0]?.message ?? 'drifted';
  const why = reason === 'Drifted' ? drift : 'its pods run cheaper on other nodes';
  const by =
    replacements.length === 0
      ? 'its pods need no replacement'
      : `${replacements.join(', ')} is ready`;
  await deleteNodeClaim(pass, claim, node, { reason, message: `${why}; ${by}` });
}

type Failed = Extract<Progress, { readonly kind: 'failed' }>;

/**
 * What is given up of one replacement is capacity like any other, unless it is broken or was not
 * launched, and no other node that goes needs it. Others that do still wait for it.
 */
async function release(
  { ports, givenUp, commands }: DisruptPass,
  each: NodeClaim,
  failure: Failed | undefined,
): Promise<void> {
  const ref = claimRef(each);
  const waiting = new Set(commands.map(({ claim }) => claim.uid));
  const others = replacedUids(each.annotations).filter(
    (uid) => waiting.has(uid) && !givenUp.has(uid),
  );
  const isReady = isTrue(each, 'Initialized');
  const isAlone = others.length === 0;
  const isLate = failure?.late.has(each.name) === true;
  const isBroken = failure?.broken !== undefined && !isReady && (isAlone || isLate);
  if (isBroken || (isAlone && each.providerId === undefined)) await ports.cluster.delete(ref);
  // What has failed is noted, and what goes tries nothing more.
  const tries = isBroken ? { [TRIES]: null } : {};
  const annotations = { [REPLACES]: isAlone ? null : replacesText(others), ...tries };
  await ports.cluster.patchNodeClaim(ref, { annotations });
}

/**
 * Gives a replacement up: the node stays. The claim forgets its replacements last, so that a run
 * that is cut short is repeated.
 */
async function rollBack(
  pass: DisruptPass,
  { claim, node, replacements, reason }: Command,
  message: string,
  failure?: Failed,
): Promise<void> {
  const { ports, nowMs } = pass;
  pass.givenUp.add(claim.uid);
  if (failure?.broken !== undefined && reason === 'Underutilized') {
    await noteFailedMove(pass, failure.broken, message);
  }
  for (const each of replacements) await release(pass, each, failure);
  await untaint(pass, claim, node);
  const blocked = { type: 'Normal', reason: 'DisruptionBlocked', message } as const;
  await recordEvent(pass, claim, node, blocked);
  await ports.recorder.decision({
    id: `disrupt-${claim.name}-given-up-${nowMs}`,
    atMs: nowMs,
    useCase: 'disrupt',
    object: `NodeClaim/${claim.name}`,
    action: 'none',
    message,
    detail: detailOf(claim, 'replacement-failed'),
  });
  const labels = { decision: 'replace', reason: reason.toLowerCase(), consolidation_type: '' };
  ports.recorder.count('voluntary_disruption_queue_failures_total', labels);
  const approved = isApproved(claim, 'disrupt') ? { [APPROVED]: null } : {};
  const ended = { [REPLACED_BY]: null, [REPLACED_FOR]: null, [EVICTION_ORDER]: null };
  const annotations = { ...ended, ...approved };
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
}

/** Why nodes are replaced, and how they are drained then. */
export interface ReplacedBecause {
  readonly reason: DisruptionReason;
  /** In which their pods are evicted one after the other; by default all at once. */
  readonly evictionOrder?: EvictionOrder | undefined;
}

/** Before its replacements are written: where a run is cut short then, they count as gone. */
export async function annotateReplaced(
  { ports, state, nowMs, approved }: DisruptPass,
  claim: NodeClaim,
  names: readonly string[],
  { reason, evictionOrder }: ReplacedBecause,
): Promise<WriteResult> {
  const why = {
    ...(reason === 'Drifted' ? {} : { [REPLACED_FOR]: reason }),
    ...(evictionOrder === undefined ? {} : { [EVICTION_ORDER]: evictionOrderText(evictionOrder) }),
  };
  const isHeld = approved !== undefined && isPaused(state.pausedUntilMs.disrupt, nowMs);
  const approval = isHeld ? approvedAnnotation('disrupt') : {};
  const annotations = { [REPLACED_BY]: replacedByText(names), ...why, ...approval };
  return await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
}

/** Nodes whose pods hold them though all is ready are given this time, and then stay. */
const HELD_MS_MAX = 10 * 60_000;

/** Whether a node that is only to go for the money is held by its pods now, and what becomes of it. */
async function isHeldByPods(pass: DisruptPass, command: Command): Promise<boolean> {
  const { claim, node, replacements } = command;
  if (node === undefined) return false;
  const { pods, podDisruptionBudgets } = pass.state.objects;
  const own = pods.filter(({ nodeName }) => nodeName === node.name);
  const message = blockedBy(
    { claim, node, pods: own },
    podDisruptionBudgets,
    pass.nowMs,
    'graceful',
  );
  if (message === undefined) return false;
  const readyAtMs = Math.max(
    0,
    ...replacements.map((each) => conditionOf(each, 'Initialized')?.lastTransitionAtMs ?? 0),
  );
  if (pass.nowMs - readyAtMs >= HELD_MS_MAX) await rollBack(pass, command, message);
  else
    await recordEvent(pass, claim, node, { type: 'Normal', reason: 'DisruptionBlocked', message });
  return true;
}

/** A static node takes pods until its replacement is ready: some may hold it since. */
async function isHeldBack(pass: DisruptPass, { claim, node }: Command): Promise<boolean> {
  if (node === undefined) return false;
  const { pods, podDisruptionBudgets } = pass.state.objects;
  const own = pods.filter(({ nodeName }) => nodeName === node.name);
  const message = blockedBy(
    { claim, node, pods: own },
    podDisruptionBudgets,
    pass.nowMs,
    'eventual',
  );
  if (message === undefined) return false;
  await recordEvent(pass, claim, node, { type: 'Normal', reason: 'DisruptionBlocked', message });
  return true;
}

async function follow(pass: DisruptPass, command: Command): Promise<void> {
  const { claim, node, replacements, progress, reason } = command;
  const names = replacements.map(({ name }) => name);
  const { drifts, target, isUndecided } = pass.driftResults.get(claim.uid) ?? {};
  const isAsAsked = drifts?.length === 0 && target?.nodeClass !== undefined;
  if (reason === 'Drifted' && isAsAsked && isUndecided !== true) {
    await rollBack(pass, command, 'The node matches its NodePool and EC2NodeClass again');
    return;
  }
  if (progress.kind === 'failed') {
    await rollBack(pass, command, progress.message, progress);
    return;
  }
  const isHeld = isPaused(pass.state.pausedUntilMs.disrupt, pass.nowMs);
  if (isHeld && !isApproved(claim, 'disrupt')) return;
  // The pods of a static node have no other place before its replacement is there.
  const isStatic = poolOf(pass, claim)?.replicas !== undefined;
  if (isStatic && (progress.kind !== 'ready' || (await isHeldBack(pass, command)))) return;
  const isReady = progress.kind === 'ready';
  if (isReady && reason === 'Underutilized' && (await isHeldByPods(pass, command))) return;
  const held = await taintDisrupted(pass, claim, node, reason);
  if (progress.kind === 'ready' && held === 'done') await deleteReplaced(pass, command, names);
}

/** Goes on with what earlier passes have begun, and opens nodes that they have forgotten. */
export async function followCommands(pass: DisruptPass): Promise<void> {
  const { state, commands, failures } = pass;
  for (const command of commands) {
    const step = () => follow(pass, command);
    failures.push(...(await attempt(`NodeClaim/${command.claim.name}`, step)));
  }
  const { nodeClaims, nodes } = state.objects;
  const ours = nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  await atOnce(WRITES_AT_ONCE, forgottenNodes(ours, nodes, commands), async ({ claim, node }) => {
    const step = () => untaint(pass, claim, node);
    failures.push(...(await attempt(`Node/${node.name}`, step)));
  });
}
