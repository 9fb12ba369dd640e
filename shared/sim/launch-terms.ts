import type { InstanceType } from '../core/model/instance-type.ts';
import type { NodeOverlay, PriceChange } from '../core/model/provisioning.ts';
import type { Machine } from './cloud/compute.ts';

/** Under which overlays an instance was chosen; later ones do not change it. */
export interface LaunchTerms {
  /** Sorted names of the overlays of its price and its capacity. */
  readonly overlays: readonly string[];
  readonly priceChange: PriceChange | undefined;
}

/** The terms of a new machine, from the types that its NodePool could launch at that moment. */
export function launchTerms(
  machine: Machine,
  types: readonly InstanceType[],
  overlays: readonly NodeOverlay[],
): LaunchTerms {
  const type = types.find((each) => each.name === machine.instanceType);
  const offering = type?.offerings.find(
    (each) =>
      each.zone === machine.zone &&
      each.capacityType === machine.capacityType &&
      each.reservation?.id === machine.reservationId,
  );
  const { priceOverlay } = offering ?? {};
  const names = [priceOverlay, ...(type?.capacityOverlays ?? [])];
  return {
    overlays: [...new Set(names.filter((each) => each !== undefined))].sort(),
    priceChange: overlays.find((each) => each.name === priceOverlay)?.priceChange,
  };
}
