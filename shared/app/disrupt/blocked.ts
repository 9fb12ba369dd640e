import { reason } from '../../core/explain/reason.ts';
import { conditionOf } from '../../core/lifecycle/conditions.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import { isPaused } from '../settings.ts';
import { recordNothing } from '../writes/decisions.ts';
import { type Blocked, blocked } from './events.ts';
import type { DisruptPass } from './pass.ts';

/** A pool that can launch nothing keeps what it has; empty: it is ready. */
export function blockedByPool(pool: NodePool): readonly Blocked[] {
  const ready = conditionOf(pool, 'Ready');
  if (ready?.status === 'True') return [];
  const said = ready?.message ?? 'it is new';
  return [blocked([reason('nodepool-cannot-launch', { said })], true)];
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
  const { ports, state, nowMs, events, approved } = pass;
  if (approved !== undefined || !isPaused(state.pausedUntilMs.disrupt, nowMs)) return false;
  const why = reason('disruptions-paused', {});
  if (events.isNew(why.code)) await recordNothing({ ports }, why, 'NodeClaims', 'disrupt');
  return true;
}
