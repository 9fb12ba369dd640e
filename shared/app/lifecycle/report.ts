import { type ClaimDecision, TERMINATION_FINALIZER } from '../../core/lifecycle/actions.ts';
import { isJoining } from '../../core/lifecycle/claim.ts';
import { conditionOf, isTrue } from '../../core/lifecycle/conditions.ts';
import { dueTimes, FOLLOWED_DRAINS_MAX } from '../../core/lifecycle/due-times.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { Failure } from '../writes/attempt.ts';
import { isHurried } from './blocked-evictions.ts';
import type { Pass } from './claim-steps.ts';
import { isAtRisk, type Nominations } from './nomination/nominations.ts';

export interface LifecycleReport {
  /** Something was written, or a drain or a node that is about to be ready: look again soon. */
  readonly isUnsettled: boolean;
  /** A node that was launched is about to join, of which nobody may tell. */
  readonly isExpecting: boolean;
  /** The pass has changed nothing, and no node is about to open. */
  readonly isQuiet: boolean;
  /** An instance is to end, of which EC2 tells late. */
  readonly isEnding: boolean;
  /** When time alone changes what is to be done next, e.g. a drain's time is up. */
  readonly dueAtMs: number | undefined;
  /** Names of claims that are waited for, sorted. */
  readonly unsettled: readonly string[];
  /** Names of nodes that are being drained. */
  readonly draining: readonly string[];
  readonly evictions: number;
  readonly terminated: readonly string[];
  /** Steps that were refused; the others went on. */
  readonly failures: readonly Failure[];
}

/** What a pass sees of the cluster, and what it makes of it. */
export interface View {
  readonly pass: Pass;
  readonly claims: readonly NodeClaim[];
  readonly nominations: Nominations;
  readonly decisions: readonly ClaimDecision[];
}

export function isLeaving({ deletedAtMs }: NodeClaim): boolean {
  return deletedAtMs !== undefined;
}

/** One that only others hold is theirs, once there is nothing left to do for it. */
function isStillLeaving({ claim, actions }: ClaimDecision): boolean {
  const isHeld = claim.finalizers.includes(TERMINATION_FINALIZER);
  return isLeaving(claim) && (isHeld || actions.length > 0);
}

/** What takes longer to end, or to be detached, is stuck. */
const ENDING_MS = 5 * 60_000;

/** Its pods are gone, and nothing that is watched tells of its volumes and its instance. */
function isEnding({ claim, actions }: ClaimDecision, nowMs: number): boolean {
  const detaching = conditionOf(claim, 'VolumesDetached');
  const isAwaited =
    detaching?.status === 'Unknown' ||
    isTrue(claim, 'InstanceTerminating') ||
    actions.some(({ kind }) => kind === 'terminate');
  const drainedAtMs = conditionOf(claim, 'Drained')?.lastTransitionAtMs ?? nowMs;
  const { deletedAtMs = nowMs } = claim;
  return isAwaited && nowMs - Math.max(drainedAtMs, deletedAtMs) < ENDING_MS;
}

/** Of all claims, the next moment at which time alone gives them something to do. */
function nextDueMs({ state, nowMs }: Pass, claims: readonly NodeClaim[]): number | undefined {
  const { nodes, pods } = state.objects;
  const all = claims.flatMap((claim) =>
    dueTimes(claim, podsOnNode(pods, nodeOfClaim(nodes, claim)?.name)),
  );
  const ahead = all.filter((atMs) => atMs > nowMs);
  return ahead.length === 0 ? undefined : ahead.reduce((a, b) => Math.min(a, b));
}

/** Nodes that are being drained, first those of which a pod is on its way out. */
function drainsOf({ state }: Pass, leaving: readonly NodeClaim[]) {
  const { pods } = state.objects;
  const going = new Set(
    pods.flatMap(({ deletedAtMs, nodeName }) =>
      deletedAtMs === undefined ? [] : (nodeName ?? []),
    ),
  );
  const names = leaving.flatMap(({ nodeName }) => nodeName ?? []).sort();
  const ending = names.filter((name) => going.has(name));
  return { names: [...ending, ...names.filter((name) => !going.has(name))], ending: ending.length };
}

/** What the pass came to. */
export function reportOf({ pass, claims, decisions, nominations }: View): LifecycleReport {
  const { acted, isRegistering, evictions, terminated, failures, nowMs, memory } = pass;
  const leaving = decisions.filter(isStillLeaving).map(({ claim }) => claim);
  const expected = claims.filter((claim) => isJoining(claim, nowMs));
  const atRisk = claims.some((claim) => isAtRisk(claim, nominations));
  const isQuiet =
    !pass.changed && !isRegistering && !atRisk && !leaving.some((claim) => isHurried(claim, nowMs));
  if (!isQuiet) memory.instances.forget();
  const drains = drainsOf(pass, leaving);
  return {
    isUnsettled: acted || isRegistering || leaving.length > 0,
    isExpecting: atRisk || expected.length > 0,
    isQuiet,
    isEnding:
      decisions.some((each) => isEnding(each, nowMs)) || drains.ending > FOLLOWED_DRAINS_MAX,
    dueAtMs: nextDueMs(pass, claims),
    unsettled: [...leaving, ...expected].map(({ name }) => name).sort(),
    draining: drains.names,
    evictions,
    terminated,
    failures,
  };
}
