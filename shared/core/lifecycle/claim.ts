import { type Reason, reason } from '../explain/reason.ts';
import { launchTriedAtMs } from '../launch/fleet-group.ts';
import type { Node } from '../model/cluster.ts';
import {
  CAPACITY_TYPE,
  DO_NOT_SYNC_TAINTS,
  INITIALIZED,
  LAUNCH_TRIED,
  PLANNED_PODS,
  REGISTERED,
  REPLACES,
  RESERVED,
  TRIES,
  UNREGISTERED_TAINT_KEY,
} from '../model/labels.ts';
import type { CapacityReservation } from '../model/node-class.ts';
import type { Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { isEphemeralTaint, isStartingTaint, type Taint } from '../model/taint.ts';
import type { ClosedClaim } from '../nomination/registration-order.ts';
import {
  type ClaimDecision,
  type ClaimSurroundings,
  instanceIdOf,
  type LifecycleAction,
  TAGGED,
  TERMINATION_FINALIZER,
  TERMINATION_TIMESTAMP,
} from './actions.ts';
import { type ConditionClaim, conditionOf, isTrue, readiness } from './conditions.ts';
import { consistentState } from './consistency.ts';
import { isExpired } from './expiry.ts';
import { terminationActions } from './termination.ts';

/** A launch that is tried in vain for this long is given up, as in Karpenter. */
export const LAUNCH_TIMEOUT_MS = 5 * 60_000;
/** So is an instance whose node has not joined. */
export const REGISTRATION_TIMEOUT_MS = 15 * 60_000;
/** An instance that EC2 does not list so long after its launch is gone; before, it may be too new. */
export const LISTING_DELAY_MS = 60_000;
/**
 * A node is opened to pods after this long though it is not ready: the network plugin that it waits
 * for may be a DaemonSet that the taint `karpenter.sh/unregistered` keeps away.
 */
export const OPENING_TIMEOUT_MS = 30_000;

function unknown(type: string, reason: string, message: string): ConditionClaim {
  return { type, status: 'Unknown', reason, message };
}

/** The condition, and what Ready is with it. */
function withReady(claim: NodeClaim, condition: ConditionClaim): readonly ConditionClaim[] {
  const conditions = [
    ...claim.conditions.filter((each) => each.type !== condition.type),
    { ...condition, lastTransitionAtMs: 0 },
  ];
  return [condition, readiness(conditions, ['Launched', 'Registered', 'Initialized'])];
}

/** The condition, unless the claim says so already. */
function saying(claim: NodeClaim, condition: ConditionClaim): LifecycleAction[] {
  const now = conditionOf(claim, condition.type);
  const isSaid = now?.status === condition.status && now.reason === condition.reason;
  if (isSaid && now.message === condition.message) return [];
  return [{ kind: 'conditions', set: withReady(claim, condition) }];
}

function since(claim: NodeClaim, condition: string): number {
  return conditionOf(claim, condition)?.lastTransitionAtMs ?? claim.createdAtMs;
}

function sameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

/** The node's taints once registered; the claim's own only where the node did not bring them. */
function taintsAtRegistration(claim: NodeClaim, node: Node): readonly Taint[] {
  const kept = node.taints.filter((each) => each.key !== UNREGISTERED_TAINT_KEY);
  if (node.labels[DO_NOT_SYNC_TAINTS] === 'true') return kept;
  const wanted = [...claim.taints, ...claim.startupTaints];
  return [...kept, ...wanted.filter((each) => !kept.some((present) => sameTaint(each, present)))];
}

/** Pods could start on the node, were it not for the taint that lifecycle takes away. */
function isUsable(node: Node): boolean {
  return isTrue(node, 'Ready') && !node.taints.some(isStartingTaint);
}

/** The claim's node where it has joined, takes no pods yet, and may be kept so for a moment. */
function closedNode(
  claim: NodeClaim,
  { nodes, nowMs }: Pick<ClaimSurroundings, 'nodes' | 'nowMs'>,
): Node | undefined {
  const [node, second] = nodes;
  const isClosed =
    second === undefined &&
    node?.taints.some(({ key }) => key === UNREGISTERED_TAINT_KEY) === true &&
    nowMs - node.createdAtMs < OPENING_TIMEOUT_MS;
  return isClosed && isAwaitingNode(claim) ? node : undefined;
}

function isAwaitingNode(claim: NodeClaim): boolean {
  return claim.deletedAtMs === undefined && !isTrue(claim, 'Registered');
}

/** The claim as {@link awaitedNodes} looks at it; undefined: its node is open, or opens now. */
export function unregisteredClaim(
  claim: NodeClaim,
  around: Pick<ClaimSurroundings, 'nodes' | 'nowMs' | 'awaiting' | 'nominated' | 'pods'>,
): ClosedClaim | undefined {
  const joined = closedNode(claim, around);
  if (!isAwaitingNode(claim) || (joined === undefined && around.nodes.length > 0)) return undefined;
  const node = joined !== undefined && isUsable(joined) ? joined : undefined;
  const taints = node === undefined ? [] : taintsAtRegistration(claim, node);
  const { awaiting, nominated = [], pods: bound } = around;
  return { claim, node, taints, planned: [...awaiting, ...nominated], bound };
}

/**
 * Why the claim's node, which has joined, stays closed for a moment: pods that are nominated before
 * they can start there would be tried in vain, and lose the nomination by that.
 */
export function reasonUnregistered(
  claim: NodeClaim,
  around: ClaimSurroundings,
): ConditionClaim | undefined {
  const node = closedNode(claim, around);
  if (node === undefined) return undefined;
  if (!isUsable(node)) {
    return unknown(
      'Registered',
      'NodeNotReady',
      'The node has joined the cluster and is not Ready yet',
    );
  }
  if (around.awaitedNode === undefined) return undefined;
  const message = `The node becomes schedulable together with the node of NodeClaim ${around.awaitedNode.name}`;
  return unknown('Registered', 'OtherNodeNotReady', message);
}

/**
 * Whether the claim was launched a short time ago and its node is not initialised yet: whoever
 * stays for that need not be told. One that takes longer is left to the minute's schedule.
 */
export function isJoining(claim: NodeClaim, nowMs: number): boolean {
  return (
    claim.deletedAtMs === undefined &&
    isTrue(claim, 'Launched') &&
    !isTrue(claim, 'Initialized') &&
    nowMs - since(claim, 'Launched') < REGISTRATION_TIMEOUT_MS
  );
}

function nominations(node: Node, pods: readonly Pod[]): readonly LifecycleAction[] {
  return pods.length > 0 && isUsable(node) ? [{ kind: 'nominate', node, pods }] : [];
}

/** Pods that cannot start on the node yet would be tried there in vain, and lose the nomination. */
function opening(claim: NodeClaim, node: Node, pods: readonly Pod[]): readonly LifecycleAction[] {
  const own: ReadonlySet<string> = new Set([PLANNED_PODS, REPLACES, TRIES, LAUNCH_TRIED]);
  const annotations = Object.fromEntries(
    Object.entries(claim.annotations).filter(([name]) => !own.has(name)),
  );
  return [
    {
      kind: 'register',
      node,
      pods: isUsable(node) ? pods : [],
      labels: { ...claim.labels, [REGISTERED]: 'true' },
      annotations,
      taints: taintsAtRegistration(claim, node),
    },
    { kind: 'confirm', node },
  ];
}

function registration(claim: NodeClaim, around: ClaimSurroundings): readonly LifecycleAction[] {
  const [node, second] = around.nodes;
  const waited = around.nowMs - since(claim, 'Launched');
  if ((node === undefined || second !== undefined) && waited >= REGISTRATION_TIMEOUT_MS) {
    const why = reason('registration-timeout', {});
    return [{ kind: 'delete-claim', reason: 'registration_timeout', why }];
  }
  if (node === undefined && around.isOfFailedImage === true) {
    const why = reason('image-not-proven', { image: claim.imageId ?? '' });
    return [{ kind: 'delete-claim', reason: 'registration_timeout', why }];
  }
  if (second !== undefined) {
    const message = 'Several nodes have the provider id of this NodeClaim';
    return saying(claim, {
      type: 'Registered',
      status: 'False',
      reason: 'MultipleNodesFound',
      message,
    });
  }
  if (node === undefined) {
    return saying(
      claim,
      unknown('Registered', 'NodeNotFound', 'The node has not joined the cluster yet'),
    );
  }
  // Opened already, and the claim not told: others have changed the node's taints since.
  if (node.labels[REGISTERED] === 'true') return [{ kind: 'confirm', node }];
  const closed = reasonUnregistered(claim, around);
  if (closed !== undefined) return saying(claim, closed);
  return opening(claim, node, around.awaiting);
}

/** Why a registered node is not usable yet; undefined: it is. */
function reasonUninitialized(claim: NodeClaim, node: Node): ConditionClaim | undefined {
  if (!isTrue(node, 'Ready')) {
    return unknown('Initialized', 'NodeNotReady', 'Node status is not Ready');
  }
  const startup = node.taints.find((taint) =>
    claim.startupTaints.some((each) => sameTaint(each, taint)),
  );
  if (startup !== undefined) {
    return unknown('Initialized', 'StartupTaintsExist', `Startup taint ${startup.key} exists`);
  }
  const ephemeral = node.taints.find(isEphemeralTaint);
  if (ephemeral !== undefined) {
    return unknown('Initialized', 'KnownEphemeralTaintsExist', `Taint ${ephemeral.key} exists`);
  }
  const missing = Object.keys(claim.requests)
    .sort()
    .find((name) => (claim.requests[name] ?? 0) > 0 && (node.allocatable[name] ?? 0) === 0);
  if (missing === undefined) return undefined;
  return unknown('Initialized', 'ResourceNotRegistered', `Resource ${missing} is not there yet`);
}

function initialization(claim: NodeClaim, node: Node): readonly LifecycleAction[] {
  const waiting = reasonUninitialized(claim, node);
  if (waiting !== undefined) return saying(claim, waiting);
  const initialized: ConditionClaim = {
    type: 'Initialized',
    status: 'True',
    reason: 'Initialized',
    message: '',
  };
  const label: LifecycleAction[] =
    node.labels[INITIALIZED] === 'true' ? [] : [{ kind: 'initialize', node }];
  const set = [...withReady(claim, initialized), consistentState(claim, node)];
  return [...label, { kind: 'conditions', set }];
}

/** The claim names its pods until each has a node; mostly that is over when it is tagged. */
function withoutPlan(claim: NodeClaim, isAwaited: boolean): Readonly<Record<string, null>> {
  return isAwaited || claim.annotations[PLANNED_PODS] === undefined ? {} : { [PLANNED_PODS]: null };
}

function tagging(
  claim: NodeClaim,
  node: Node,
  { isAwaited, isNamed = false }: ClaimSurroundings,
): readonly LifecycleAction[] {
  const instanceId = instanceIdOf(claim.providerId);
  const removed = withoutPlan(claim, isAwaited);
  if (instanceId === undefined || claim.annotations[TAGGED] === 'true') {
    return Object.keys(removed).length === 0 ? [] : [{ kind: 'annotate', annotations: removed }];
  }
  const name = isNamed ? {} : { Name: node.name };
  const tags = { ...name, 'karpenter.sh/nodeclaim': claim.name };
  return [{ kind: 'tag', instanceId, tags, annotations: { [TAGGED]: 'true', ...removed } }];
}

/** A reservation that ends leaves its instances running, at the price of on-demand ones. */
function demotion(claim: NodeClaim, around: ClaimSurroundings): readonly LifecycleAction[] {
  const isOver = around.isUnreserved === true && claim.labels[CAPACITY_TYPE] === RESERVED;
  return isOver ? [{ kind: 'demote', nodes: around.nodes }] : [];
}

/** Why the claim's instance counts as gone; undefined: it does not. */
function endOfInstance(claim: NodeClaim, around: ClaimSurroundings): Reason | undefined {
  if (around.instance === 'present' || around.nodes.some((node) => isTrue(node, 'Ready'))) {
    return undefined;
  }
  const isAbsent = around.instance === 'absent';
  const cause = around.stateReason ?? '';
  if (isTrue(claim, 'Registered')) {
    return isAbsent ? reason('instance-gone', { cause }) : undefined;
  }
  if (!isTrue(claim, 'Launched')) return undefined;
  if (!isAbsent || cause !== '') return reason('instance-terminated-early', { cause });
  const isNew = around.nowMs - since(claim, 'Launched') < LISTING_DELAY_MS;
  return isNew ? undefined : reason('instance-disappeared', {});
}

/** EC2 terminates the instances of a Capacity Block whatever else is set: no pause holds this. */
function blockEnding({ id, endsAtMs }: CapacityReservation): Reason {
  const endsAt = endsAtMs === undefined ? '' : new Date(endsAtMs).toISOString();
  return reason('capacity-block-ending', { reservation: id, endsAt });
}

/** Why the claim has to go although nobody deleted it. */
function deletion(claim: NodeClaim, around: ClaimSurroundings): LifecycleAction | undefined {
  const { isExpiryHeld = false } = around;
  if (isExpired(claim, around.nowMs) && !isExpiryHeld) {
    return { kind: 'delete-claim', reason: 'expired', why: reason('nodeclaim-expired', {}) };
  }
  if (around.nodes.some((node) => node.deletedAtMs !== undefined)) {
    return { kind: 'delete-claim', reason: 'node_deleted', why: reason('node-deleted', {}) };
  }
  const gone = endOfInstance(claim, around);
  if (gone !== undefined) {
    return { kind: 'delete-claim', reason: 'garbage_collected', why: gone };
  }
  if (around.isNodeRemoved === true) {
    return { kind: 'delete-claim', reason: 'node_deleted', why: reason('node-deleted', {}) };
  }
  const { repairCause, endingBlock } = around;
  if (endingBlock !== undefined) {
    return { kind: 'delete-claim', reason: 'capacity_block_ending', why: blockEnding(endingBlock) };
  }
  if (repairCause === undefined) return undefined;
  const { reason: cause, why } = repairCause;
  return { kind: 'delete-claim', reason: cause, why, repairCause };
}

/** The launch itself holds a claim: this one was launched by a version that did not. */
function holding({ finalizers, providerId }: NodeClaim): readonly LifecycleAction[] {
  const isHeld = finalizers.includes(TERMINATION_FINALIZER);
  return isHeld || providerId === undefined ? [] : [{ kind: 'hold-claim' }];
}

function decide(claim: NodeClaim, around: ClaimSurroundings): readonly LifecycleAction[] {
  // Also where others hold it: a deletion in the foreground waits for the Node, which waits for us.
  if (claim.deletedAtMs !== undefined) return terminationActions(claim, around);
  return [...holding(claim), ...whileWanted(claim, around)];
}

function whileWanted(claim: NodeClaim, around: ClaimSurroundings): readonly LifecycleAction[] {
  const gone = deletion(claim, around);
  if (gone !== undefined) return [gone];
  return [...withoutDeadline(claim), ...untilReady(claim, around)];
}

/** A repair that could not delete the claim has left its deadline there, and the node has recovered. */
function withoutDeadline({ annotations }: NodeClaim): readonly LifecycleAction[] {
  if (annotations[TERMINATION_TIMESTAMP] === undefined) return [];
  return [{ kind: 'annotate', annotations: { [TERMINATION_TIMESTAMP]: null } }];
}

function untilReady(claim: NodeClaim, around: ClaimSurroundings): readonly LifecycleAction[] {
  if (!isTrue(claim, 'Launched')) {
    const { nowMs } = around;
    if (nowMs - (launchTriedAtMs(claim) ?? nowMs) < LAUNCH_TIMEOUT_MS) return [];
    const why = reason('launch-timeout', {});
    return [{ kind: 'delete-claim', reason: 'launch_timeout', why }];
  }
  if (!isTrue(claim, 'Registered')) return registration(claim, around);
  const node = around.nodes[0];
  if (node === undefined) return [];
  const initializing = isTrue(claim, 'Initialized') ? [] : initialization(claim, node);
  return [
    ...nominations(node, around.awaiting),
    ...demotion(claim, around),
    ...initializing,
    ...tagging(claim, node, around),
  ];
}

/** What to do now with one NodeClaim and its Node: launch, join, expire, drain, end. */
export function decideClaim(claim: NodeClaim, around: ClaimSurroundings): ClaimDecision {
  return { claim, actions: decide(claim, around) };
}
