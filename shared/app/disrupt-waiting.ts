import { conditionOf } from '../core/lifecycle/conditions.ts';
import type { NodePool } from '../core/model/provisioning.ts';
import { type Waiting, waiting } from './disrupt-events.ts';
import type { DisruptPass } from './disrupt-pass.ts';
import { recordNothing } from './launch-records.ts';
import { isPaused } from './settings.ts';

/** A pool that can launch nothing keeps what it has; undefined: it is ready. */
export function waitsForPool(pool: NodePool): Waiting | undefined {
  const ready = conditionOf(pool, 'Ready');
  if (ready?.status === 'True') return undefined;
  return waiting(`The NodePool is not ready: ${ready?.message ?? 'it is new'}`, true);
}

/** Whether nothing may be launched in the place of what goes. */
export function isLaunchPaused({ state, nowMs }: DisruptPass): boolean {
  return isPaused(state.pausedUntilMs.launch, nowMs);
}

export const LAUNCHES_PAUSED = waiting('Launches are paused', true);

/** Whether the brake holds disruptions: for those who have something to do, since it is recorded. */
export async function isBraked({ ports, state, nowMs, events }: DisruptPass): Promise<boolean> {
  if (!isPaused(state.pausedUntilMs.disrupt, nowMs)) return false;
  const reason = 'disruptions-paused';
  if (!events.isNew(reason)) return true;
  const message = 'disruptions are paused by the brake in kube-system/joiner';
  await recordNothing({ ports }, reason, 'NodeClaims', message, 'disrupt');
  return true;
}
