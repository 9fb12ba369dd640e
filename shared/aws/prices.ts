import { DescribeSpotPriceHistoryCommand, type EC2Client } from '@aws-sdk/client-ec2';
import { type Filter, GetProductsCommand, type PricingClient } from '@aws-sdk/client-pricing';
import { type Currency, currencyOf } from '../core/model/currency.ts';
import { parsedJson } from '../core/parsed-json.ts';
import { PortError } from '../ports/fault.ts';
import { allPages, type Calls } from './calls.ts';

/** An hour, by instance type, in the currency of the region. */
export type OnDemandPrices = ReadonlyMap<string, number>;

export interface SpotMarket {
  /** An hour, by instance type and then by zone, in the currency of the region. */
  readonly prices: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** Ids of the zones by their names in this account. */
  readonly zoneIds: ReadonlyMap<string, string>;
}

function is(Field: string, Value: string): Filter {
  return { Type: 'TERM_MATCH', Field, Value };
}

/** Linux, nothing installed, paid by the hour. */
const COMMON: readonly Filter[] = [
  is('operatingSystem', 'Linux'),
  is('preInstalledSw', 'NA'),
  is('capacitystatus', 'Used'),
  is('marketoption', 'OnDemand'),
];

/** Bare metal is priced as dedicated, everything else as shared. */
const TENANCIES: readonly (readonly Filter[])[] = [
  [is('tenancy', 'Shared'), is('productFamily', 'Compute Instance')],
  [is('tenancy', 'Dedicated'), is('productFamily', 'Compute Instance (bare metal)')],
];

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  return fields[name];
}

function valuesOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** One product of the price list; undefined: not an hourly price above zero. */
function priceOf(text: unknown, currency: Currency): readonly [string, number] | undefined {
  // The SDK hands out texts that are JSON as objects of String.
  const product = parsedJson(String(text));
  const attributes = fieldOf(fieldOf(product, 'product'), 'attributes');
  const instanceType = fieldOf(attributes, 'instanceType');
  const terms = valuesOf(fieldOf(fieldOf(product, 'terms'), 'OnDemand'));
  const dimensions = terms.flatMap((term) => valuesOf(fieldOf(term, 'priceDimensions')));
  const prices = dimensions.map((each) => Number(fieldOf(fieldOf(each, 'pricePerUnit'), currency)));
  const price = prices.find((each) => Number.isFinite(each) && each > 0);
  return typeof instanceType === 'string' && price !== undefined
    ? [instanceType, price]
    : undefined;
}

/**
 * An answer without any price is none, as in Karpenter: with it nothing would be offered any more,
 * and the prices that are known would be lost.
 */
function noPrices(action: string, what: string): PortError {
  return new PortError('unknown', 'NoPrices', `${action}: AWS names no ${what}`);
}

/**
 * At least one.
 * https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
 */
export async function onDemandPrices(
  pricing: PricingClient,
  calls: Calls,
  region: string,
): Promise<OnDemandPrices> {
  const prices = new Map<string, number>();
  for (const tenancy of TENANCIES) {
    const Filters = [...COMMON, ...tenancy, is('regionCode', region)];
    const list = await allPages(async (NextToken) => {
      const command = new GetProductsCommand({ ServiceCode: 'AmazonEC2', Filters, NextToken });
      const page = await calls.run('pricing:GetProducts', () => pricing.send(command));
      return { items: page.PriceList, next: page.NextToken };
    });
    for (const text of list) {
      const found = priceOf(text, currencyOf(region));
      if (found !== undefined) prices.set(...found);
    }
  }
  if (prices.size === 0) throw noPrices('pricing:GetProducts', `on-demand price of ${region}`);
  return prices;
}

/** {@link spotMarket} with one price at least. */
export async function spotPrices(ec2: EC2Client, calls: Calls): Promise<SpotMarket> {
  const market = await spotMarket(ec2, calls);
  if (market.prices.size === 0) throw noPrices('ec2:DescribeSpotPriceHistory', 'spot price');
  return market;
}

/** The prices of this moment: EC2 gives the last change before the start of the period too. */
export async function spotMarket(ec2: EC2Client, calls: Calls): Promise<SpotMarket> {
  const now = new Date(calls.timing.nowMs());
  const history = await allPages(async (NextToken) => {
    const command = new DescribeSpotPriceHistoryCommand({
      ProductDescriptions: ['Linux/UNIX'],
      StartTime: now,
      NextToken,
    });
    const page = await calls.run('ec2:DescribeSpotPriceHistory', () => ec2.send(command));
    return { items: page.SpotPriceHistory, next: page.NextToken };
  });
  const newest = [...history].sort(
    (a, b) => (a.Timestamp?.getTime() ?? 0) - (b.Timestamp?.getTime() ?? 0),
  );
  const prices = new Map<string, Record<string, number>>();
  const zoneIds = new Map<string, string>();
  for (const { InstanceType: type, AvailabilityZone: zone, ...entry } of newest) {
    const price = Number(entry.SpotPrice);
    if (zone !== undefined && entry.AvailabilityZoneId !== undefined) {
      zoneIds.set(zone, entry.AvailabilityZoneId);
    }
    if (type === undefined || zone === undefined || !(price > 0)) continue;
    const byZone = prices.get(type) ?? {};
    byZone[zone] = price;
    prices.set(type, byZone);
  }
  return { prices, zoneIds };
}
