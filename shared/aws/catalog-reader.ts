import {
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  type EC2Client,
  type InstanceTypeInfo,
} from '@aws-sdk/client-ec2';
import type { PricingClient } from '@aws-sdk/client-pricing';
import { branchInterfacesLike } from '../catalog/branch-interfaces.ts';
import type { Catalog, CatalogZone, MachineFacts } from '../catalog/facts.ts';
import { allPages, type Calls } from './calls.ts';
import { machineFacts } from './machine-facts.ts';
import { onDemandPrices, type SpotMarket, spotMarket, spotPrices } from './prices.ts';

export interface CatalogReaderParts {
  readonly ec2: EC2Client;
  readonly pricing: PricingClient;
  readonly calls: Calls;
  readonly region: string;
  /** The embedded catalog of the region, where there is one. */
  readonly embedded: Catalog | undefined;
  /** What is embedded about types, of whichever region. */
  readonly known: ReadonlyMap<string, MachineFacts>;
  /** Told of types whose branch interfaces had to be derived from others. */
  readonly onDerived?: (names: readonly string[]) => void;
}

/** ISO day of a moment. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The catalog as AWS knows it now: for the function `catalog`, and for people with an account. */
export class CatalogReader {
  private readonly parts: CatalogReaderParts;

  constructor(parts: CatalogReaderParts) {
    this.parts = parts;
  }

  /** Everything: some forty calls. Rejects where no type has an on-demand price. */
  async read(): Promise<Catalog> {
    const { ec2, pricing, calls, region, embedded, known } = this.parts;
    const [infos, offered, onDemand, spot] = [
      await this.instanceTypes(),
      await this.offerings(),
      await onDemandPrices(pricing, calls, region),
      await spotMarket(ec2, calls),
    ];
    const bands = new Map(embedded?.types.map((each) => [each.name, each.spotInterruption]));
    const types = infos.flatMap((info) => {
      const name = info.InstanceType;
      const at = offered.get(name ?? '') ?? [];
      if (name === undefined || at.length === 0) return [];
      const beside = {
        onDemandPrice: onDemand.get(name),
        spotPrices: spotIn(spot, name, at),
        zones: [...at].sort(),
        known: known.get(name),
        spotInterruption: bands.get(name),
      };
      return [machineFacts(name, info, beside)];
    });
    const day = dayOf(calls.timing.nowMs());
    return {
      region,
      source: 'EC2 and price list of the account',
      date: day,
      spotDate: day,
      zones: zonesOf(offered, spot, embedded),
      types: this.withDerived(types).sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  }

  /** The catalog with the spot prices of this moment; rejects where EC2 names none. */
  async withSpotPrices(catalog: Catalog): Promise<Catalog> {
    const { ec2, calls } = this.parts;
    const spot = await spotPrices(ec2, calls);
    const types = catalog.types.map((each) => ({
      ...each,
      spotPrices: spotIn(spot, each.name, each.zones),
    }));
    return { ...catalog, spotDate: dayOf(calls.timing.nowMs()), types };
  }

  /** Types that are newer than what is embedded have the branch interfaces of those like them. */
  private withDerived(types: readonly MachineFacts[]): MachineFacts[] {
    const { known, onDerived } = this.parts;
    const like = branchInterfacesLike(known.values());
    const derived = types.map((facts) =>
      known.has(facts.name) ? facts : { ...facts, branchInterfaces: like(facts) },
    );
    const names = types.filter(({ name }) => !known.has(name)).map(({ name }) => name);
    if (names.length > 0) onDerived?.(names.sort());
    return derived;
  }

  private async instanceTypes(): Promise<readonly InstanceTypeInfo[]> {
    const { ec2, calls } = this.parts;
    const Filters = [
      { Name: 'supported-virtualization-type', Values: ['hvm'] },
      { Name: 'processor-info.supported-architecture', Values: ['x86_64', 'arm64'] },
    ];
    return allPages(async (NextToken) => {
      const command = new DescribeInstanceTypesCommand({ Filters, NextToken });
      const page = await calls.run('ec2:DescribeInstanceTypes', () => ec2.send(command));
      return { items: page.InstanceTypes, next: page.NextToken };
    });
  }

  /** Zones by instance type. */
  private async offerings(): Promise<ReadonlyMap<string, readonly string[]>> {
    const { ec2, calls } = this.parts;
    const all = await allPages(async (NextToken) => {
      const command = new DescribeInstanceTypeOfferingsCommand({
        LocationType: 'availability-zone',
        NextToken,
      });
      const page = await calls.run('ec2:DescribeInstanceTypeOfferings', () => ec2.send(command));
      return { items: page.InstanceTypeOfferings, next: page.NextToken };
    });
    const zones = new Map<string, string[]>();
    for (const { InstanceType: type, Location: zone } of all) {
      if (type === undefined || zone === undefined) continue;
      const known = zones.get(type);
      if (known === undefined) zones.set(type, [zone]);
      else known.push(zone);
    }
    return zones;
  }
}

/** Zones in which anything is offered; an id that nothing tells is empty. */
function zonesOf(
  offered: ReadonlyMap<string, readonly string[]>,
  { zoneIds }: SpotMarket,
  embedded: Catalog | undefined,
): readonly CatalogZone[] {
  const known = new Map(embedded?.zones.map(({ zone, zoneId }) => [zone, zoneId]));
  const names = [...new Set([...offered.values()].flat())].sort();
  return names.map((zone) => ({ zone, zoneId: zoneIds.get(zone) ?? known.get(zone) ?? '' }));
}

/** Only zones in which the type is offered; never guessed where there is no price. */
function spotIn(
  { prices }: SpotMarket,
  name: string,
  zones: readonly string[],
): Readonly<Record<string, number>> {
  const known = Object.entries(prices.get(name) ?? {});
  return Object.fromEntries(known.filter(([zone]) => zones.includes(zone)));
}
