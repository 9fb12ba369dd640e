import type { Command } from 'commander';
import { isEmbeddedRegion, loadCatalog, REGIONS } from '../shared/catalog/catalog.ts';
import type { Catalog } from '../shared/catalog/facts.ts';
import { meant } from '../shared/contract/nearest.ts';
import { AWS_REGIONS } from './aws-regions.ts';
import { BadInput } from './bad-input.ts';
import { readCatalogFile } from './catalog-file.ts';
import { showPricesOf } from './price-text.ts';
import { regionOption } from './region.ts';

/** Instance types and prices for a command that asks no cluster. */
export interface OfflineCatalogOptions {
  /** @default the catalog file's, else us-east-1 */
  readonly region?: string;
  /** A file of `joiner catalog`. */
  readonly catalog?: string;
  /** Of a stack in the region, whose prices of today are then used. */
  readonly bucket?: string;
}

const DEFAULT_REGION = 'us-east-1';

/** The command with options for {@link OfflineCatalogOptions}. */
export function withOfflineCatalog(command: Command): Command {
  return command
    .addOption(
      regionOption(`the region of the prices: ${REGIONS.join(', ')}, or the region of --catalog`),
    )
    .option(
      '--catalog <file>',
      'read instance types and prices from a file that joiner catalog wrote',
    )
    .option(
      '--bucket <name>',
      'use the current instance types and prices in the bucket of a stack in the region',
    );
}

/** Where prices of a region that is not embedded come from. */
export function notEmbedded(region: string): string {
  const near = AWS_REGIONS.includes(region) ? '' : meant(region, AWS_REGIONS);
  if (near !== '') return `AWS has no such region${near}`;
  return (
    `no prices of ${region} are embedded (${REGIONS.join(', ')} are): ` +
    `joiner catalog --region ${region} -o FILE reads them from AWS, and --catalog FILE takes them`
  );
}

/** The catalog that was asked for. Bad input: a region that is not known, a file of another one. */
export async function offlineCatalog(options: OfflineCatalogOptions): Promise<Catalog> {
  const catalog = await askedCatalog(options);
  showPricesOf(catalog.region);
  return catalog;
}

async function askedCatalog(options: OfflineCatalogOptions): Promise<Catalog> {
  const { region = DEFAULT_REGION, catalog: file, bucket } = options;
  if (file !== undefined) return catalogOfFile(file, options.region);
  if (bucket !== undefined) return catalogOfBucket(bucket, region);
  if (!isEmbeddedRegion(region)) throw new BadInput([`--region ${region}: ${notEmbedded(region)}`]);
  return loadCatalog(region);
}

async function catalogOfBucket(bucket: string, region: string): Promise<Catalog> {
  // AWS's SDK is read where there is something to ask it.
  const { openBucket } = await import('./bucket.ts');
  const { catalog, silence } = await openBucket({ bucket, region, cluster: '' });
  if (catalog !== undefined) return catalog.catalog;
  throw new BadInput([`--bucket ${bucket}: ${silence ?? `has no catalog of ${region}`}`]);
}

/** The file's catalog, which has to be of the region, where one is given. */
export function catalogOfFile(file: string, region: string | undefined): Catalog {
  const catalog = readCatalogFile(file);
  if (region === undefined || catalog.region === region) return catalog;
  throw new BadInput([`--catalog ${file}: is of ${catalog.region}, and ${region} is asked for`]);
}
