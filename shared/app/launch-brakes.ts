import type { ClusterState, Ports } from '../ports.ts';
import type { AppSettings } from './settings.ts';

/** How many claims may be launched now: the cap counts the last minute. */
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

/** Pools whose last launches did not join wait, ever longer: a minute, then twice as long, to 30. */
export async function haltedPools(ports: Ports): Promise<ReadonlySet<string>> {
  const nowMs = ports.clock.nowMs();
  const halted = new Set<string>();
  for (const [pool, { count, lastAtMs }] of await ports.memory.failedRegistrations()) {
    if (count < 5) continue;
    const minutes = Math.min(30, 2 ** (count - 5));
    if (nowMs < lastAtMs + minutes * 60_000) halted.add(pool);
  }
  return halted;
}
