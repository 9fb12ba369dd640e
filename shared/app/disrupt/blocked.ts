import { type Reason, reason } from '../../core/explain/reason.ts';
import { conditionOf } from '../../core/lifecycle/conditions.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import { pauseWindow, pauseWindowSoon } from '../../core/pause-windows.ts';
import { isPaused } from '../settings.ts';
import { recordNothing } from '../writes/decisions.ts';
import { type Blocked, blocked } from './events.ts';
import type { DisruptPass } from './pass.ts';

/** The window of the pool's own in which disruptions are paused now; empty: there is none. */
export function pausedByPool(
  { nowMs, approved }: Pick<DisruptPass, 'nowMs' | 'approved'>,
  pool: NodePool | undefined,
): readonly Reason[] {
  const window = pool && pauseWindow(pool, 'disrupt', nowMs);
  if (pool === undefined || window === undefined || approved !== undefined) return [];
  return [reason('disruptions-paused-by-pool', { nodePool: pool.name, window })];
}

/** So long a move may take until its nodes are gone. */
const MOVE_MS = 10 * 60_000;

/** The window that would begin before a move that begins now had ended; empty: there is none. */
export function pausedSoon(
  { nowMs, approved }: Pick<DisruptPass, 'nowMs' | 'approved'>,
  pool: NodePool,
): readonly Reason[] {
  if (approved !== undefined || pauseWindow(pool, 'disrupt', nowMs) !== undefined) return [];
  const window = pauseWindowSoon(pool, 'disrupt', nowMs, MOVE_MS);
  return window === undefined ? [] : [reason('pause-begins-soon', { nodePool: pool.name, window })];
}

/** A pool that can launch nothing keeps what it has, and so does one with a pause; empty: neither. */
export function blockedByPool(
  pass: Pick<DisruptPass, 'nowMs' | 'approved'>,
  pool: NodePool,
): readonly Blocked[] {
  const paused = pausedByPool(pass, pool);
  const ready = conditionOf(pool, 'Ready');
  const said = ready?.message ?? 'it is new';
  return [
    ...(paused.length === 0 ? [] : [blocked(paused, true)]),
    ...(ready?.status === 'True'
      ? []
      : [blocked([reason('nodepool-cannot-launch', { said })], true)]),
  ];
}

/** Whether nothing may be launched in the place of what goes; what was approved may. */
export function isLaunchPaused({ state, nowMs, approved }: DisruptPass): boolean {
  return approved === undefined && isPaused(state.pausedUntilMs.launch, nowMs);
}

export const LAUNCHES_PAUSED = blocked([reason('replacements-paused', {})], true);

/**
 * Whether disruptions are paused: for those who have something to do, since it is recorded. A pause
 * does not hold what was approved.
 */
export async function isDisruptionPaused(pass: DisruptPass): Promise<boolean> {
  const { ports, state, nowMs, outcome, approved } = pass;
  if (approved !== undefined || !isPaused(state.pausedUntilMs.disrupt, nowMs)) return false;
  const why = reason('disruptions-paused', {});
  if (outcome.events.isNew(why.code)) await recordNothing({ ports }, why, 'NodeClaims', 'disrupt');
  return true;
}
