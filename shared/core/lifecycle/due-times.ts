import { parseDurationMs } from '../duration.ts';
import { DO_NOT_DISRUPT } from '../model/labels.ts';
import type { Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { isJoining, REGISTRATION_TIMEOUT_MS } from './claim.ts';
import { conditionOf } from './conditions.ts';
import { STUCK_AFTER_MS } from './drain.ts';
import { deadlineOf } from './termination.ts';

/**
 * Nodes whose pods are followed while they are drained: each takes one of the few connections to
 * the API server. What happens on others is seen by the clock.
 */
export const FOLLOWED_DRAINS_MAX = 8;

/** When a pod stops to hold a node that is drained, or may be asked to go: by time alone. */
function podTimes(pod: Pod, deadlineMs: number | undefined): readonly number[] {
  const { deletedAtMs, startedAtMs, spec } = pod;
  if (deletedAtMs !== undefined) return [deletedAtMs + STUCK_AFTER_MS];
  const protectedMs = parseDurationMs(pod.annotations[DO_NOT_DISRUPT] ?? '');
  return [
    ...(deadlineMs === undefined ? [] : [deadlineMs - spec.terminationGracePeriodSeconds * 1000]),
    ...(protectedMs === undefined || startedAtMs === undefined ? [] : [startedAtMs + protectedMs]),
  ];
}

/** When its instance was launched, as far as the claim says. */
export function launchedAtMs(claim: NodeClaim): number {
  return conditionOf(claim, 'Launched')?.lastTransitionAtMs ?? claim.createdAtMs;
}

/**
 * The moments at which time alone changes what is to be done with a claim: nothing in the cluster
 * tells of these. `pods` are those of its node.
 */
export function dueTimes(claim: NodeClaim, pods: readonly Pod[]): readonly number[] {
  const { deletedAtMs } = claim;
  if (deletedAtMs !== undefined) {
    const deadlineMs = deadlineOf(claim);
    const own = deadlineMs === undefined ? [] : [deadlineMs];
    return [...own, ...pods.flatMap((pod) => podTimes(pod, deadlineMs))];
  }
  const fromMs = launchedAtMs(claim);
  return isJoining(claim, fromMs) ? [fromMs + REGISTRATION_TIMEOUT_MS] : [];
}
