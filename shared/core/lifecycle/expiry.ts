import { shiftedZones } from '../disruption/zonal-shift.ts';
import { NODE_POOL, ZONE } from '../model/labels.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import { pausedPools } from '../pause-windows.ts';

/** Whether the claim is as old as its `expireAfter`. */
export function isExpired({ expireAfter, createdAtMs }: NodeClaim, nowMs: number): boolean {
  return expireAfter !== 'Never' && nowMs - createdAtMs >= expireAfter;
}

/** Whether a claim that has expired stays: its NodePool pauses now, or its zone is shifted away. */
export function expiryHold(
  pools: readonly NodePool[],
  nowMs: number,
): (claim: NodeClaim) => boolean {
  const paused = pausedPools(pools, nowMs);
  const away = new Set(shiftedZones(pools).map(({ zone }) => zone));
  return ({ labels }) => paused.has(labels[NODE_POOL] ?? '') || away.has(labels[ZONE] ?? '');
}
