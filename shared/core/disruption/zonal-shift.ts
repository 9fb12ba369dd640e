import { conditionOf } from '../lifecycle/conditions.ts';
import type { NodePool } from '../model/provisioning.ts';

/** False on every NodePool while ARC shifts the cluster away from a zone. */
export const ZONES_USABLE = 'ZonesUsable';
export const ZONAL_SHIFT = 'ZonalShift';

/** A zone's name and its id, which is the same in all accounts. */
export interface ShiftedZone {
  readonly zone: string;
  readonly zoneId: string;
}

const BEGINNING = 'ARC shifts this cluster away from ';

/** The condition's message: the same for as long as the same zones are shifted. */
export function shiftMessage(zones: readonly ShiftedZone[]): string {
  const texts = zones.map(({ zone, zoneId }) => `${zone} (${zoneId})`).sort();
  return `${BEGINNING}${texts.join(', ')}: nothing is launched or disrupted there`;
}

/** The zones that the conditions of NodePools name: what others than the one who asked ARC know. */
export function shiftedZones(
  pools: readonly Pick<NodePool, 'conditions'>[],
): readonly ShiftedZone[] {
  const found = new Map<string, ShiftedZone>();
  for (const pool of pools) {
    const said = conditionOf(pool, ZONES_USABLE);
    if (said?.status !== 'False' || !said.message.startsWith(BEGINNING)) continue;
    const [names = ''] = said.message.slice(BEGINNING.length).split(':');
    for (const [, zone = '', zoneId = ''] of names.matchAll(/([a-z0-9-]+) \(([a-z0-9-]+)\)/g)) {
      found.set(zone, { zone, zoneId });
    }
  }
  return [...found.values()].sort((a, b) => (a.zone < b.zone ? -1 : 1));
}
