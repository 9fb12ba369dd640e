import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import type { Decoded } from '../../api/issue.ts';
import type { Catalog, MachineFacts } from '../../catalog/facts.ts';
import { BUCKET_LAYOUT } from '../../contract.ts';
import type { MemoryObjects } from './objects.ts';
import { credibleCatalog } from './price-checks.ts';
import type { MemoryPlace } from './s3-memory.ts';

export interface KeptCatalog {
  readonly catalog: Catalog;
  /** When its youngest part was read from AWS. */
  readonly atMs: number;
  /** When its on-demand prices were, where only spot prices have been read since. */
  readonly onDemandAtMs?: number | undefined;
}

/** When the older prices of a catalog were read: its age counts from here. */
export function pricesAtMs({ atMs, onDemandAtMs = atMs }: KeptCatalog): number {
  return Math.min(atMs, onDemandAtMs);
}

/** JSON has no undefined: an absent value is null, so that no field can be forgotten. */
function maybe<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().transform((value) => value ?? undefined);
}

const count = z.number().min(0);
const price = z.number().positive();

const machine = z.object({
  name: z.string().min(1),
  arch: maybe(z.enum(['amd64', 'arm64'])),
  vcpus: count,
  memoryMiB: count,
  networkInterfaces: count,
  networkInterfacesTotal: count,
  networkCards: count,
  addressesPerInterface: count,
  efaInterfaces: count,
  branchInterfaces: count,
  gpus: z.array(z.object({ name: z.string(), manufacturer: z.string(), count, memoryMiB: count })),
  accelerators: z.array(
    z.object({ name: z.string(), manufacturer: z.string(), count, cores: maybe(count) }),
  ),
  localStorageGb: maybe(count),
  networkMbps: maybe(count),
  ebsMbps: maybe(count),
  // Files of earlier versions have none.
  ebsAttachments: maybe(z.object({ most: count, isShared: z.boolean() }).optional()),
  hypervisor: z.string(),
  bareMetal: z.boolean(),
  cpuManufacturer: z.string(),
  cpuClockMhz: maybe(count),
  encryptionInTransit: z.boolean(),
  offersOnDemand: z.boolean(),
  offersSpot: z.boolean(),
  onDemandPrice: maybe(price),
  spotPrices: z.record(z.string(), price),
  spotInterruption: maybe(z.string()),
  zones: z.array(z.string()),
}) satisfies z.ZodType<MachineFacts>;

const file = z.object({
  version: z.literal(1),
  atMs: z.number(),
  // Files of earlier versions have none.
  onDemandAtMs: maybe(z.number()).optional(),
  catalog: z.object({
    region: z.string(),
    source: z.string(),
    date: z.string(),
    spotDate: z.string(),
    zones: z.array(z.object({ zone: z.string(), zoneId: z.string() })),
    types: z.array(machine).min(1),
  }),
});

/** Unpacked; a catalog of all regions' types together is smaller. */
const JSON_BYTES_MAX = 32 * 2 ** 20;
/** Clocks of two functions differ by less. */
const SKEW_MS = 60_000;
/** As long as our own file is younger, other stacks' are not looked at. */
const CURRENT_MS = 2 * 3_600_000;
const ATTEMPTS_MAX = 3;
/** How long an answer holds without a look at S3: prices change by the hour at most. */
const FRESH_MS = 60_000;

/** JSON, gzipped or as people look at it. */
function unpacked(body: Uint8Array): unknown {
  const [first, second] = body;
  const isZipped = first === 0x1f && second === 0x8b;
  try {
    const bytes = isZipped ? gunzipSync(body, { maxOutputLength: JSON_BYTES_MAX }) : body;
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** The file's bytes: gzipped JSON. */
export function encodeCatalogFile({ catalog, atMs, onDemandAtMs }: KeptCatalog): Uint8Array {
  const kept = { version: 1, atMs, onDemandAtMs, catalog };
  return gzipSync(JSON.stringify(kept, (_, value) => value ?? null));
}

/** What {@link encodeCatalogFile} wrote; the issues are empty where it is not even JSON. */
export function decodeCatalogFile(body: Uint8Array): Decoded<KeptCatalog> {
  const json = unpacked(body);
  if (json === undefined) return { ok: false, issues: [] };
  const { success, data, error } = file.safeParse(json);
  if (success) return { ok: true, value: data };
  const issues = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return { ok: false, issues };
}

/** The catalog that the function `catalog` keeps for all others, as gzipped JSON. */
export class CatalogFile {
  private readonly objects: MemoryObjects;
  private readonly region: string;
  private readonly key: string;
  private readonly prefix: string;
  /** Read before, by key and ETag. */
  private readonly read = new Map<string, KeptCatalog | undefined>();

  private last: (KeptCatalog & { readonly askedAtMs: number }) | undefined;

  constructor(objects: MemoryObjects, { region, cluster }: MemoryPlace) {
    this.objects = objects;
    this.region = region;
    this.key = BUCKET_LAYOUT.sharedFile(region, 'catalog', cluster);
    this.prefix = `${BUCKET_LAYOUT.shared(region)}catalog/`;
  }

  /**
   * Whether it, or one with newer on-demand prices, is in S3 now: a run that began before
   * everything was read anew, and ends after that, has newer spot prices and old other ones.
   */
  async write(kept: KeptCatalog): Promise<boolean> {
    const body = encodeCatalogFile(kept);
    this.last = undefined;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const before = await this.objects.read(this.key);
      if (before === undefined) return false;
      if (before !== 'absent' && this.isNewer(before.body, kept)) return true;
      const etag = before === 'absent' ? undefined : before.etag;
      const written = await this.objects.write(this.key, body, etag);
      if (written === 'failed') return false;
      if (written === 'conflict') continue;
      this.objects.tell(this.key, 'Usable');
      return true;
    }
    this.objects.tell(this.key, 'Contended', `${this.key} is being written by another`);
    return false;
  }

  /** Whether what is there has newer on-demand prices. */
  private isNewer(body: Uint8Array, kept: KeptCatalog): boolean {
    const there = this.usable(body);
    return there !== undefined && pricesAtMs(there) > pricesAtMs(kept);
  }

  /**
   * The newest catalog that any stack of the region keeps, its prices checked against the embedded
   * one's; undefined: there is none that can be used.
   */
  async newest(embedded: Catalog | undefined): Promise<KeptCatalog | undefined> {
    const askedAtMs = this.objects.nowMs();
    const { last } = this;
    if (last !== undefined && askedAtMs < last.askedAtMs + FRESH_MS) {
      const { askedAtMs: _, ...kept } = last;
      return kept;
    }
    const newest = await this.ask(embedded);
    this.last = newest === undefined ? undefined : { ...newest, askedAtMs };
    return newest;
  }

  private async ask(embedded: Catalog | undefined): Promise<KeptCatalog | undefined> {
    const own = await this.readFile(this.key, embedded);
    if (own !== undefined && this.objects.nowMs() < own.atMs + CURRENT_MS) return own;
    const keys = (await this.objects.keys(this.prefix)) ?? [];
    const others = keys.filter((key) => key.endsWith('.json') && key !== this.key).sort();
    const kept = await Promise.all(others.map((key) => this.readFile(key, embedded)));
    return [own, ...kept]
      .flatMap((each) => each ?? [])
      .reduce<KeptCatalog | undefined>(
        (best, each) => (best === undefined || best.atMs < each.atMs ? each : best),
        undefined,
      );
  }

  private async readFile(
    key: string,
    embedded: Catalog | undefined,
  ): Promise<KeptCatalog | undefined> {
    const found = await this.objects.read(key);
    if (found === undefined || found === 'absent') return undefined;
    const version = `${key} ${found.etag}`;
    if (!this.read.has(version)) {
      for (const each of this.read.keys()) if (each.startsWith(`${key} `)) this.read.delete(each);
      this.read.set(version, this.decoded(key, found.body, embedded));
    }
    return this.read.get(version);
  }

  private decoded(
    key: string,
    body: Uint8Array,
    embedded: Catalog | undefined,
  ): KeptCatalog | undefined {
    const kept = this.usable(body);
    if (kept === undefined) {
      this.objects.tell(key, 'Invalid', `${key} is no catalog of ${this.region}`);
      return undefined;
    }
    const { catalog, rejected } = credibleCatalog(kept.catalog, embedded);
    if (rejected === 0) this.objects.tell(key, 'Usable');
    else this.objects.tell(key, 'Invalid', `${key}: ${rejected} prices cannot be true`);
    return { catalog, atMs: kept.atMs, onDemandAtMs: kept.onDemandAtMs };
  }
  /** Undefined: it is none of the region, or one of a time to come. */
  private usable(body: Uint8Array): KeptCatalog | undefined {
    const decoded = decodeCatalogFile(body);
    if (!decoded.ok || decoded.value.catalog.region !== this.region) return undefined;
    return decoded.value.atMs > this.objects.nowMs() + SKEW_MS ? undefined : decoded.value;
  }
}
