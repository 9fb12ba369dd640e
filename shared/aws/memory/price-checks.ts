import type { Catalog, MachineFacts } from '../../catalog/facts.ts';

/** A price this many times below or above the embedded one is not believed. */
const FACTOR = 10;

function isCredible(price: number, known: number | undefined): boolean {
  return known === undefined || (price >= known / FACTOR && price <= known * FACTOR);
}

interface Checked {
  readonly facts: MachineFacts;
  readonly rejected: number;
}

/** A spot price without an embedded one is compared with on-demand, which it hardly ever exceeds. */
function isCredibleSpot(price: number, zone: string, known: MachineFacts): boolean {
  const embedded = known.spotPrices[zone];
  if (embedded !== undefined) return isCredible(price, embedded);
  return known.onDemandPrice === undefined || price <= known.onDemandPrice * FACTOR;
}

function checked(facts: MachineFacts, known: MachineFacts | undefined): Checked {
  if (known === undefined) return { facts, rejected: 0 };
  const { onDemandPrice } = facts;
  const isOnDemandFine =
    onDemandPrice === undefined || isCredible(onDemandPrice, known.onDemandPrice);
  const zones = Object.keys(facts.spotPrices).sort();
  const wrong = zones.filter((zone) => !isCredibleSpot(facts.spotPrices[zone] ?? 0, zone, known));
  const rejected = wrong.length + (isOnDemandFine ? 0 : 1);
  if (rejected === 0) return { facts, rejected };
  const spot = zones.flatMap((zone) => {
    const price = wrong.includes(zone) ? known.spotPrices[zone] : facts.spotPrices[zone];
    return price === undefined ? [] : [[zone, price] as const];
  });
  return {
    facts: {
      ...facts,
      onDemandPrice: isOnDemandFine ? onDemandPrice : known.onDemandPrice,
      spotPrices: Object.fromEntries(spot),
    },
    rejected,
  };
}

/** The catalog with the embedded price wherever its own cannot be true, and how many those are. */
export function credibleCatalog(
  catalog: Catalog,
  embedded: Catalog | undefined,
): { readonly catalog: Catalog; readonly rejected: number } {
  const known = new Map(embedded?.types.map((each) => [each.name, each]));
  const results = catalog.types.map((facts) => checked(facts, known.get(facts.name)));
  const rejected = results.reduce((sum, each) => sum + each.rejected, 0);
  return {
    catalog: rejected === 0 ? catalog : { ...catalog, types: results.map(({ facts }) => facts) },
    rejected,
  };
}
