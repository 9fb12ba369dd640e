import {
  type ShiftedZone,
  shiftedZones,
  shiftMessage,
  ZONAL_SHIFT,
  ZONES_USABLE,
} from '../../core/disruption/zonal-shift.ts';
import type { ClusterState, Degradation, Ports } from '../../ports.ts';

/**
 * The zones that ARC shifts the cluster away from. Who cannot ask, or gets no answer, goes by what
 * NodePools say.
 */
export async function zonesAway(
  { zonalShifts }: Pick<Ports, 'zonalShifts'>,
  { nodeClasses, objects }: Pick<ClusterState, 'nodeClasses' | 'objects'>,
): Promise<readonly ShiftedZone[]> {
  const ids = await zonalShifts?.awayFrom();
  if (ids === undefined) return shiftedZones(objects.nodePools);
  const known = new Map<string, ShiftedZone>();
  for (const { zone, zoneId } of nodeClasses.flatMap(({ status }) => status.subnets)) {
    if (zoneId !== undefined && ids.has(zoneId)) known.set(zone, { zone, zoneId });
  }
  return [...known.values()].sort((a, b) => (a.zone < b.zone ? -1 : 1));
}

/** What NodePools say of it. */
export function shiftDegradation(zones: readonly ShiftedZone[]): readonly Degradation[] {
  if (zones.length === 0) return [];
  return [{ type: ZONES_USABLE, reason: ZONAL_SHIFT, message: shiftMessage(zones) }];
}
