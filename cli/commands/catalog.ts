import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { ec2Client, pricingClient } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { CatalogReader } from '../../shared/aws/catalog-reader.ts';
import { encodeCatalogFile } from '../../shared/aws/memory/catalog-file.ts';
import { isEmbeddedRegion, knownMachines, loadCatalog } from '../../shared/catalog/catalog.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { callersAccess } from '../aws-access.ts';
import { reporting, unreadable } from '../bad-input.ts';
import { regionOption } from '../region.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options {
  readonly region: string;
  readonly output?: string;
}

/** What of the file people may want to know before they decide by it. */
function summaryOf({ region, types, zones }: Catalog): string {
  const priced = types.filter(({ onDemandPrice }) => onDemandPrice !== undefined).length;
  const spot = types.filter(({ spotPrices }) => Object.keys(spotPrices).length > 0).length;
  return (
    `${region}: ${types.length} instance types in ${zones.length} zones, ` +
    `${priced} with an on-demand price, ${spot} with spot prices`
  );
}

function write(file: string, body: Uint8Array): void {
  try {
    writeFileSync(file, body);
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function run({ region, output }: Options): Promise<number> {
  const access = callersAccess(region, 'cli');
  const reader = new CatalogReader({
    ec2: ec2Client(access),
    pricing: pricingClient(access),
    calls: new Calls(),
    region,
    embedded: isEmbeddedRegion(region) ? await loadCatalog(region) : undefined,
    known: await knownMachines(),
  });
  const file = output ?? `catalog.${region}.json.gz`;
  writeErr(`joiner: reading instance types and prices of ${region} from AWS\n`);
  const catalog = await reader.read();
  if (catalog.types.length === 0) throw new Error(`EC2 offers no instance types in ${region}`);
  write(file, encodeCatalogFile({ catalog, atMs: Date.now() }));
  writeOut(`${summaryOf(catalog)}\nwritten to ${file}\n`);
  return 0;
}

/** `joiner catalog`: instance types and prices of any region as a file, for `--catalog`. */
export function catalogCommand(): Command {
  return new Command('catalog')
    .description('read the instance types and prices of a region from AWS into a file')
    .addOption(regionOption('any region of AWS').makeOptionMandatory())
    .option('-o, --output <file>', 'default: catalog.REGION.json.gz')
    .addHelpText(
      'after',
      '\nThe command uses the AWS credentials of the environment, as the aws command does. It needs\n' +
        'ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings, ec2:DescribeSpotPriceHistory and\n' +
        'pricing:GetProducts. simulate, compare, diagnose, plan, apply, explain and top read the file with\n' +
        '--catalog FILE.',
    )
    .action((options: Options) => reporting(() => run(options)));
}
