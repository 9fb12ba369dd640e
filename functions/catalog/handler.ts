import { ec2Client, pricingClient } from '../../shared/aws/access.ts';
import { CatalogReader } from '../../shared/aws/catalog-reader.ts';
import { knownMachines } from '../../shared/catalog/catalog.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { Deadline } from '../runtime/deadline.ts';
import { openMemory } from '../runtime/memory.ts';
import { untilItPasses } from '../runtime/until-it-passes.ts';
import { wakeOf } from '../runtime/wake.ts';

/**
 * The next run is a quarter of an hour away, or half a day, and without a catalog most regions have
 * no nodes: some forty calls, of which one may be throttled.
 */
const TRIES_MAX = 3;
const TRY_MS = 120_000;

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
  const catalog = await untilItPasses(
    () => (before === undefined ? reader.read() : reader.withSpotPrices(before.catalog)),
    { remainingMs, tryMs: TRY_MS, triesMax: TRIES_MAX },
  );
  const onDemandAtMs = before === undefined ? atMs : (before.onDemandAtMs ?? before.atMs);
  if (!(await catalogFile.write({ catalog, atMs, onDemandAtMs }))) {
    throw new Error('the catalog was not written to the bucket; the log says why');
  }
  return { types: catalog.types.length };
});
