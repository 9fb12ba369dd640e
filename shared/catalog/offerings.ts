import type { Offering } from '../core/model/instance-type.ts';
import { type CapacityType, ON_DEMAND, RESERVED, SPOT } from '../core/model/labels.ts';
import type { CatalogZone, MachineFacts } from './facts.ts';
import type { AvailableReservation } from './settings.ts';

/**
 * A reservation is paid for whether it is used or not: nearly free, yet larger reserved instances
 * still cost more than smaller ones.
 */
const RESERVED_PRICE_DIVISOR = 10_000_000;

/**
 * Every way to buy the type in the zones given, by zone and capacity type. Nothing is offered
 * without a price; a reservation's price needs the on-demand price.
 */
export function offeringsOf(
  facts: MachineFacts,
  zones: readonly CatalogZone[],
  reservations: readonly AvailableReservation[],
): readonly Offering[] {
  return zones.flatMap((zone) => [
    ...priced(zone, ON_DEMAND, facts.offersOnDemand ? facts.onDemandPrice : undefined),
    ...reservations
      .filter((reservation) => reservation.zone === zone.zone)
      .flatMap((reservation) => reserved(zone, facts, reservation)),
    ...priced(zone, SPOT, facts.offersSpot ? facts.spotPrices[zone.zone] : undefined),
  ]);
}

function priced(
  { zone, zoneId }: CatalogZone,
  capacityType: CapacityType,
  price: number | undefined,
): readonly Offering[] {
  if (price === undefined) return [];
  return [
    {
      zone,
      zoneId: zoneId === '' ? undefined : zoneId,
      capacityType,
      price,
      listPrice: price,
      priceOverlay: undefined,
      available: true,
      reservation: undefined,
      capacityOverride: undefined,
      overheadOverride: undefined,
    },
  ];
}

function reserved(
  zone: CatalogZone,
  facts: MachineFacts,
  { id, reservationType, available, state, interruptible }: AvailableReservation,
): readonly Offering[] {
  if (facts.onDemandPrice === undefined) return [];
  return priced(zone, RESERVED, facts.onDemandPrice / RESERVED_PRICE_DIVISOR).map((offering) => ({
    ...offering,
    available: available > 0 && state !== 'expiring',
    reservation: { id, type: reservationType, capacity: available, interruptible },
  }));
}
