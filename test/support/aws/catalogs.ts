import { isEmbeddedRegion, loadCatalog } from '../../../shared/catalog/catalog.ts';
import type { Catalog } from '../../../shared/catalog/facts.ts';

const MODEL = 'us-east-1';

/** The embedded catalog of the region; else us-east-1's, its zones named after the region. */
export async function catalogIn(region: string): Promise<Catalog> {
  if (isEmbeddedRegion(region)) return loadCatalog(region);
  const model = await loadCatalog(MODEL);
  const moved = (zone: string): string => zone.replace(MODEL, region);
  return {
    ...model,
    region,
    source: `as in ${MODEL}`,
    zones: model.zones.map(({ zone, zoneId }) => ({ zone: moved(zone), zoneId })),
    types: model.types.map((facts) => ({
      ...facts,
      zones: facts.zones.map(moved),
      spotPrices: Object.fromEntries(
        Object.entries(facts.spotPrices).map(([zone, price]) => [moved(zone), price]),
      ),
    })),
  };
}
