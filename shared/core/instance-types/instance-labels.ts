import type { InstanceType, Offering, Reservation } from '../model/instance-type.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  type Labels,
  REGION,
  RESERVATION_ID,
  RESERVATION_INTERRUPTIBLE,
  RESERVATION_LABELS,
  RESERVATION_TYPE,
  ZONE,
  ZONE_ID,
} from '../model/labels.ts';

/** What a node has for the label capacity-reservation-interruptible; undefined: not the label. */
export function interruptibleLabel(reservation: Reservation | undefined): string | undefined {
  return reservation === undefined ? undefined : String(reservation.interruptible ?? false);
}

/** The one value of each label that the type describes, and what the offering adds. */
export function instanceLabels(type: InstanceType, offering: Offering, region: string): Labels {
  const labels: Record<string, string> = {};
  for (const [key, values] of Object.entries(type.labels)) {
    if (offering.reservation === undefined && RESERVATION_LABELS.has(key)) continue;
    const [only, second] = values ?? [];
    if (only !== undefined && second === undefined) labels[key] = only;
  }
  labels[INSTANCE_TYPE] = type.name;
  labels[REGION] = region;
  labels[ZONE] = offering.zone;
  labels[CAPACITY_TYPE] = offering.capacityType;
  if (offering.zoneId !== undefined) labels[ZONE_ID] = offering.zoneId;
  if (offering.reservation !== undefined) {
    labels[RESERVATION_ID] = offering.reservation.id;
    labels[RESERVATION_TYPE] = offering.reservation.type;
    const { interruptible } = offering.reservation;
    if (interruptible !== undefined) labels[RESERVATION_INTERRUPTIBLE] = String(interruptible);
  }
  return labels;
}
