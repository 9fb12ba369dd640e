import { ec2Client, pricingClient } from '../../shared/aws/access.ts';
import { CatalogReader } from '../../shared/aws/catalog-reader.ts';
import { knownMachines } from '../../shared/catalog/catalog.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { Deadline } from '../runtime/deadline.ts';
import { openMemory } from '../runtime/memory.ts';
import { wakeOf } from '../runtime/wake.ts';

/**
 * Reads instance types, offerings and prices from AWS into the bucket: spot prices alone when the
 * schedule says so, else everything. Runs outside the VPC and never speaks to the cluster.
 */
export const handler = composed(async (event: WakeUpEvent, invocation) => {
  const { config, telemetry, remainingMs } = invocation;
  const deadline = new Deadline();
  deadline.begin(remainingMs());
  const opened = await openMemory(config, telemetry, () => deadline.signal);
  const { access, calls, catalogFile, embedded } = opened;
  const { region } = config;
  const ec2 = ec2Client(access);
  const reader = new CatalogReader({
    ec2,
    pricing: pricingClient(access),
    calls,
    region,
    embedded,
    known: await knownMachines(),
    onDerived: (types) => {
      const text = 'types that are newer than Joiner: their branch interfaces are derived';
      telemetry.logger.info('catalog', { text, types });
    },
  });
  const atMs = Date.now();
  const before = wakeOf(event) === 'spot-prices' ? await catalogFile.newest(embedded) : undefined;
  const catalog =
    before === undefined ? await reader.read() : await reader.withSpotPrices(before.catalog);
  const onDemandAtMs = before === undefined ? atMs : (before.onDemandAtMs ?? before.atMs);
  if (!(await catalogFile.write({ catalog, atMs, onDemandAtMs }))) {
    throw new Error('the catalog was not written to the bucket; the log says why');
  }
  return { types: catalog.types.length };
});
