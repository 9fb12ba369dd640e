import type { ClusterState } from '../../ports.ts';
import type { AppSettings } from '../settings.ts';

/** How many NodeClaims may be launched now: the maximum counts launches of the last minute. */
export function launchesLeft(state: ClusterState, settings: AppSettings, nowMs: number): number {
  const recent = state.objects.nodeClaims.filter((claim) =>
    claim.conditions.some(
      (each) =>
        each.type === 'Launched' &&
        each.status === 'True' &&
        nowMs - each.lastTransitionAtMs < 60_000,
    ),
  );
  return Math.max(0, settings.launchesPerMinuteMax - recent.length);
}
