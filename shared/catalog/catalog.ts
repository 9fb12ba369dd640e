import { decodeCatalog, type EmbeddedCatalog } from './columns.ts';
import type { Catalog, MachineFacts } from './facts.ts';

/** Regions whose catalog is embedded, in alphabetical order. */
export const REGIONS = ['eu-west-1', 'us-east-1', 'us-west-2'] as const;
export type Region = (typeof REGIONS)[number];

const EMBEDDED: Readonly<Record<Region, () => Promise<{ readonly default: EmbeddedCatalog }>>> = {
  'eu-west-1': () => import('./data/eu-west-1.json', { with: { type: 'json' } }),
  'us-east-1': () => import('./data/us-east-1.json', { with: { type: 'json' } }),
  'us-west-2': () => import('./data/us-west-2.json', { with: { type: 'json' } }),
};

const loaded = new Map<Region, Promise<Catalog>>();

export function isEmbeddedRegion(region: string): region is Region {
  return REGIONS.some((each) => each === region);
}

/** A region without an embedded catalog was asked for. */
export class UnknownRegionError extends Error {
  constructor(region: string) {
    super(`no embedded catalog for region "${region}"; there is one for ${REGIONS.join(', ')}`);
    this.name = 'UnknownRegionError';
  }
}

/** The embedded catalog of a region, read once; rejects with {@link UnknownRegionError}. */
export async function loadCatalog(region: string): Promise<Catalog> {
  if (!isEmbeddedRegion(region)) throw new UnknownRegionError(region);
  const before = loaded.get(region);
  if (before !== undefined) return before;
  const catalog = EMBEDDED[region]().then((file) => decodeCatalog(file.default));
  loaded.set(region, catalog);
  return catalog;
}

/** What is embedded about types, of whichever region: for facts that no API of AWS tells. */
export async function knownMachines(): Promise<ReadonlyMap<string, MachineFacts>> {
  const catalogs = await Promise.all(REGIONS.map(loadCatalog));
  return new Map(catalogs.flatMap(({ types }) => types.map((each) => [each.name, each] as const)));
}
