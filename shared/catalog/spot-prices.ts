/** What is known of a type's spot prices in a region when its zones are not told apart. */
export interface SpotRange {
  readonly average: number;
  readonly lowest: number;
  readonly highest: number;
}

/**
 * Spot prices by zone from a region's range. Of the type's zones in alphabetical order the first
 * gets the average (held between lowest and highest), the others the lowest and the highest in
 * turn. No spot price is above on-demand: nobody bids more than the instance costs anyway.
 */
export function spotPricesByZone(
  range: SpotRange,
  zones: readonly string[],
  onDemandPrice: number | undefined,
): Readonly<Record<string, number>> {
  const first = Math.min(Math.max(range.average, range.lowest), range.highest);
  const prices: Record<string, number> = {};
  [...zones].sort().forEach((zone, index) => {
    const price = index === 0 ? first : index % 2 === 1 ? range.lowest : range.highest;
    const cut = Math.min(price, onDemandPrice ?? Infinity);
    if (cut > 0) prices[zone] = cut;
  });
  return prices;
}
