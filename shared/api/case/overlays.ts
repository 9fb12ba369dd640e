import { allocatable } from '../../core/instance-types/allocatable.ts';
import type { InstanceType } from '../../core/model/instance-type.ts';
import type { OverlayReport, OverlayResolution } from '../../core/overlay/resolve.ts';
import { formatResources } from '../../core/quantity.ts';

type ConditionText = {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
};

/** The conditions of an overlay, as its status will have them. */
function conditionsOf({ ready, reason, message }: OverlayReport): readonly ConditionText[] {
  const status = ready ? 'True' : 'False';
  const why = ready ? 'Ready' : reason;
  return [
    { type: 'Ready', status, reason: why, message },
    { type: 'ValidationSucceeded', status, reason, message },
  ];
}

export function encodeOverlay(report: OverlayReport): object {
  const conditions = conditionsOf(report);
  return { name: report.name, weight: report.weight, ready: conditions[0], conditions };
}

/** An offering that changes nothing of its type. */
const AS_BOUGHT = { capacityOverride: undefined, overheadOverride: undefined } as const;

function encodeType(type: InstanceType): object {
  return {
    name: type.name,
    capacity: formatResources(type.capacity),
    capacityOverlaid: type.capacityOverlays.length > 0,
    allocatable: formatResources(allocatable(type, AS_BOUGHT)),
    offerings: type.offerings.map((each) => ({
      zone: each.zone,
      capacityType: each.capacityType,
      ...(each.reservation === undefined ? {} : { reservationId: each.reservation.id }),
      available: each.available,
      basePrice: each.listPrice,
      price: each.price,
      overlaid: each.priceOverlay !== undefined,
    })),
  };
}

/** What overlays do, per NodePool and instance type: the shape of `joiner diagnose -o json`. */
export function encodeOverlays(
  { overlays, instanceTypes }: OverlayResolution,
  rejected: Readonly<Record<string, readonly string[]>>,
): object {
  const pools = [...instanceTypes].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    overlays: overlays.map(encodeOverlay),
    nodePools: Object.fromEntries(pools.map(([pool, types]) => [pool, types.map(encodeType)])),
    ...(Object.keys(rejected).length === 0 ? {} : { rejected }),
  };
}
