import { type AwsAccess, s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { CatalogFile, type KeptCatalog, pricesAtMs } from '../../shared/aws/memory/catalog-file.ts';
import { DecisionLog } from '../../shared/aws/memory/decision-log.ts';
import { S3GroupUsages } from '../../shared/aws/memory/group-usages.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { S3Memory } from '../../shared/aws/memory/s3-memory.ts';
import { SnapshotLog } from '../../shared/aws/memory/snapshot-log.ts';
import { isEmbeddedRegion, loadCatalog } from '../../shared/catalog/catalog.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { functionName } from '../../shared/contract.ts';
import type { Degradation } from '../../shared/ports.ts';
import { lambdaAccess } from './access.ts';
import type { Config } from './config.ts';
import { addMetric, faultCounter, type Telemetry } from './telemetry.ts';

/** What is remembered between invocations, and the way to AWS that it is kept through. */
export interface OpenMemory {
  readonly access: AwsAccess;
  readonly calls: Calls;
  readonly memory: S3Memory;
  readonly groupUsages: S3GroupUsages;
  readonly decisions: DecisionLog;
  readonly snapshots: SnapshotLog;
  readonly catalogFile: CatalogFile;
  readonly prices: Prices;
  /** Undefined: the region has no embedded catalog. */
  readonly embedded: Catalog | undefined;
  /** What is missing now. */
  readonly degradations: () => readonly Degradation[];
}

export async function openMemory(
  config: Config,
  telemetry: Telemetry,
  deadline: () => AbortSignal | undefined = () => undefined,
): Promise<OpenMemory> {
  const { cluster, region } = config;
  const access = lambdaAccess(region, config.functionName, deadline);
  const role = `the role of the function ${functionName(cluster, config.functionName)}`;
  const calls = new Calls(undefined, faultCounter(telemetry), role, deadline);
  const embedded = isEmbeddedRegion(region) ? await loadCatalog(region) : undefined;
  const place = { region, cluster };
  const objects = memoryObjects(config, access, calls, telemetry);
  const catalogFile = new CatalogFile(objects, place);
  const prices = new Prices(catalogFile, embedded, telemetry);
  return {
    access,
    calls,
    embedded,
    degradations: () => [...unreachable(config.bucket, objects), ...prices.degradations],
    catalogFile,
    memory: new S3Memory(objects, place),
    groupUsages: new S3GroupUsages(objects, region),
    decisions: new DecisionLog(objects, cluster),
    snapshots: new SnapshotLog(objects, cluster, config.version),
    prices,
  };
}

function memoryObjects(
  { bucket }: Config,
  access: AwsAccess,
  calls: Calls,
  { logger }: Telemetry,
): MemoryObjects {
  return new MemoryObjects({
    s3: s3Client(access),
    bucket,
    calls,
    report: ({ key, reason, message }) => logger.warn('memory', { key, reason, text: message }),
  });
}

function unreachable(bucket: string, { silence }: MemoryObjects): readonly Degradation[] {
  if (silence === undefined) return [];
  const message = `bucket ${bucket} does not answer, so its memory is not available: ${silence}`;
  return [{ type: 'MemoryReachable', reason: 'Unreachable', message }];
}

/** Prices older than this are said to be stale. */
const STALE_MS = 2 * 24 * 3_600_000;

/** When embedded prices were read, the older of the two; undefined: nothing is embedded. */
function embeddedAtMs(embedded: Catalog | undefined): number | undefined {
  if (embedded === undefined) return undefined;
  return Math.min(Date.parse(embedded.date), Date.parse(embedded.spotDate));
}

/** The prices in use: the newest that the bucket has given, else the embedded ones. */
export class Prices {
  current: Catalog | undefined;
  /** That the prices in use are old, where they are. */
  degradations: readonly Degradation[] = [];
  /** That what is in use has been read from AWS of late: what it lacks is not offered any more. */
  isCurrent = false;
  /** The last that could be read: a bucket that does not answer takes nothing away. */
  private kept: KeptCatalog | undefined;
  private readonly file: Pick<CatalogFile, 'newest'>;
  private readonly embedded: Catalog | undefined;
  private readonly telemetry: Telemetry;

  constructor(
    file: Pick<CatalogFile, 'newest'>,
    embedded: Catalog | undefined,
    telemetry: Telemetry,
  ) {
    this.file = file;
    this.embedded = embedded;
    this.current = embedded;
    this.telemetry = telemetry;
  }

  async refresh(): Promise<void> {
    const { logger } = this.telemetry;
    const newest = await this.file.newest(this.embedded);
    const kept = newest ?? this.kept;
    this.kept = kept;
    this.current = kept?.catalog ?? this.embedded;
    this.isCurrent = kept !== undefined && Date.now() - pricesAtMs(kept) <= STALE_MS;
    if (kept === undefined) {
      this.degradations = [];
      this.measureAge(embeddedAtMs(this.embedded));
      logger.warn('catalog', { text: 'no prices in the bucket: the embedded prices are used' });
      return;
    }
    if (newest === undefined) {
      logger.warn('catalog', { text: 'no prices in the bucket now: the last prices are used' });
    }
    const atMs = pricesAtMs(kept);
    const ageMs = Date.now() - atMs;
    this.measureAge(atMs);
    const isStale = !this.isCurrent;
    if (isStale) logger.warn('catalog', { text: 'the prices in use are stale', ageMs });
    const message = `the prices in use were read at ${new Date(atMs).toISOString()}`;
    this.degradations = isStale ? [{ type: 'PricesFresh', reason: 'PricesStale', message }] : [];
  }

  private measureAge(atMs: number | undefined): void {
    if (atMs === undefined) return;
    addMetric(this.telemetry, 'priceAge', Math.max(0, Date.now() - atMs) / 1000);
  }
}

/** What is said where nothing is embedded and nothing has been read yet. */
export function noCatalog(region: string): never {
  throw new Error(
    `there is no catalog of ${region} yet: the function catalog writes one within minutes of the deployment`,
  );
}
