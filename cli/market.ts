import type { Command } from 'commander';
import { pricesAtMs } from '../shared/aws/memory/catalog-file.ts';
import { isEmbeddedRegion, loadCatalog } from '../shared/catalog/catalog.ts';
import type { Catalog } from '../shared/catalog/facts.ts';
import type { ClusterState } from '../shared/ports.ts';
import type { SharedUsages } from '../shared/preview/dry-group-usages.ts';
import { BadInput } from './bad-input.ts';
import type { OpenBucket } from './bucket.ts';
import { catalogOfFile, notEmbedded } from './offline-catalog.ts';
import { showPricesOf } from './price-text.ts';
import { namedRegion, regionOption } from './region.ts';
import type { StackPlace } from './stack-settings.ts';

/** Where types, prices and what was learnt come from, for a command on a live cluster. */
export interface MarketOptions {
  /** Where neither the cluster nor its stack names its own. */
  readonly region?: string;
  /** A file of `joiner catalog`, instead of the stack's prices. */
  readonly catalog?: string;
  /** @default the one that the stack has stated in the cluster */
  readonly bucket?: string;
}

/** The command with options for {@link MarketOptions}. */
export function withMarketOptions(command: Command): Command {
  return command
    .addOption(regionOption("the cluster's region, if no node, EC2NodeClass or stack names it"))
    .option('--bucket <name>', "the stack's bucket; default: the bucket in the stack's settings")
    .option(
      '--catalog <file>',
      'read instance types and prices from a file that joiner catalog wrote',
    );
}

/** Types and prices, and what the functions remember of them. */
export interface Market {
  readonly catalog: Catalog;
  /** Undefined: no bucket could be read, so nothing is known to be short. */
  readonly memory: OpenBucket['memory'] | undefined;
  /** Undefined: no bucket could be read, so nobody says what other clusters hold. */
  readonly groupUsages: SharedUsages | undefined;
  /** That what the catalog lacks is not offered any more, rather than not known yet. */
  readonly isCurrent: boolean;
  readonly notes: readonly string[];
}

/** As the functions have it: prices older than this may lack what is offered now. */
const CURRENT_MS = 2 * 24 * 3_600_000;

/** A cluster as it was read once, in what types and prices go by. */
export interface ReadCluster {
  readonly state: ClusterState;
  /** Where the stack is, as far as the cluster says. */
  readonly place: StackPlace;
  /** The API server's clock. */
  readonly nowMs: number;
}

/** Bad input: nothing names the region, or another was asked for than the cluster is in. */
export function regionOf(
  { state, place }: Pick<ReadCluster, 'state' | 'place'>,
  asked: string | undefined,
): string {
  const named = namedRegion(state) ?? place.region;
  const region = named ?? asked;
  if (region === undefined) {
    throw new BadInput(['no node, no EC2NodeClass and no stack says the region: give --region']);
  }
  if (asked === undefined || asked === region) return region;
  throw new BadInput([`--region ${asked}: the cluster is in ${region}`]);
}

/** The bucket that was named, or that the stack states; undefined: there is none. */
async function bucketOf(
  region: string,
  asked: string | undefined,
  { bucket: stated, cluster = '' }: StackPlace,
): Promise<OpenBucket | undefined> {
  const bucket = asked ?? stated;
  if (bucket === undefined) return undefined;
  // AWS's SDK is read where there is something to ask it.
  const { openBucket } = await import('./bucket.ts');
  const opened = await openBucket({ bucket, region, cluster });
  if (opened.silence === undefined || asked === undefined) return opened;
  throw new BadInput([`--bucket ${asked}: ${opened.silence}`]);
}

/** What is said of a bucket that does not have all that is asked for. */
function bucketNotes(opened: OpenBucket | undefined, bucket: string | undefined): string[] {
  if (opened === undefined || bucket === undefined) return [];
  const { silence, notes, catalog } = opened;
  if (silence !== undefined) {
    return [`bucket ${bucket} cannot be read, so no shortage is known: ${silence}`];
  }
  return catalog === undefined ? [...notes, `bucket ${bucket} has no catalog yet`] : [...notes];
}

async function embedded(region: string): Promise<Catalog> {
  if (isEmbeddedRegion(region)) return loadCatalog(region);
  const help = 'or --bucket NAME of a stack there';
  throw new BadInput([`the cluster is in ${region}: ${notEmbedded(region)}; ${help}`]);
}

/**
 * The catalog of the file that was given, else of the stack's bucket, else the embedded one. Bad
 * input: there is none of the cluster's region.
 */
export async function marketOf(live: ReadCluster, options: MarketOptions): Promise<Market> {
  const region = regionOf(live, options.region);
  showPricesOf(region);
  const file = options.catalog === undefined ? undefined : catalogOfFile(options.catalog, region);
  const opened = await bucketOf(region, options.bucket, live.place);
  const kept = file === undefined ? opened?.catalog : undefined;
  return {
    catalog: file ?? kept?.catalog ?? (await embedded(region)),
    memory: opened?.silence === undefined ? opened?.memory : undefined,
    groupUsages:
      opened?.silence === undefined && opened !== undefined
        ? { usages: opened.groupUsages, cluster: live.place.cluster ?? '' }
        : undefined,
    isCurrent: kept !== undefined && live.nowMs - pricesAtMs(kept) <= CURRENT_MS,
    notes: bucketNotes(opened, options.bucket ?? live.place.bucket),
  };
}
