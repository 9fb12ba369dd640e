import { encodeOverlay } from '../../shared/api/case/overlays.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import type { NodeOverlay, PriceChange } from '../../shared/core/model/provisioning.ts';
import { overlayRemark } from '../../shared/core/overlay/remark.ts';
import type { OverlayReport } from '../../shared/core/overlay/resolve.ts';
import { formatResources } from '../../shared/core/quantity.ts';

/** Overlays that have changed a price or a capacity of the type. */
export function overlaysOf({ offerings, capacityOverlays }: InstanceType): readonly string[] {
  return [...offerings.flatMap(({ priceOverlay }) => priceOverlay ?? []), ...capacityOverlays];
}

function signed(amount: number): string {
  return amount < 0 ? String(amount) : `+${amount}`;
}

/** The price of an overlay, as its manifest has it. */
function priceOf(change: PriceChange | undefined): object {
  if (change === undefined) return {};
  if (change.kind === 'absolute') return { price: String(change.price) };
  const adjustment =
    change.kind === 'percent' ? `${signed(change.percent)}%` : signed(change.amount);
  return { priceAdjustment: adjustment };
}

/** What each overlay is and asks for, and how many of these instance types it changes. */
export function overlayEffects(
  overlays: readonly OverlayReport[],
  specs: readonly NodeOverlay[],
  types: readonly InstanceType[],
): readonly object[] {
  return overlays.map((report) => {
    const spec = specs.find(({ name }) => name === report.name);
    const changed = types.filter((type) => overlaysOf(type).includes(report.name));
    const own = {
      ...encodeOverlay(report),
      changedTypes: new Set(changed.map(({ name }) => name)).size,
    };
    if (spec === undefined) return own;
    const { requirements, priceChange, capacity } = spec;
    const remark = report.ready ? overlayRemark(report, spec) : undefined;
    return {
      ...own,
      requirements,
      ...priceOf(priceChange),
      ...(Object.keys(capacity).length === 0 ? {} : { capacity: formatResources(capacity) }),
      ...(remark === undefined ? {} : { remark }),
    };
  });
}
