/** A zone of a region: its name in the account and its id, which is the same in every account. */
export interface CatalogZone {
  readonly zone: string;
  readonly zoneId: string;
}

export interface GpuFacts {
  /** As EC2 names it, e.g. `A10G`. */
  readonly name: string;
  readonly manufacturer: string;
  /** Whole devices; 0 on types that carry a fraction of one. */
  readonly count: number;
  /** Of one device, in MiB. */
  readonly memoryMiB: number;
}

/** An accelerator that is not a GPU: Inferentia, Trainium, … */
export interface AcceleratorFacts {
  readonly name: string;
  readonly manufacturer: string;
  readonly count: number;
  /** NeuronCores of one device; undefined: not a Neuron device. */
  readonly cores: number | undefined;
}

/** How many EBS volumes an instance can attach, its root volume among them. */
export interface EbsAttachments {
  readonly most: number;
  /** With network interfaces: one of these is taken off already, and so are disks and devices. */
  readonly isShared: boolean;
}

/** What EC2 says about one instance type in one region, with its prices there. */
export interface MachineFacts {
  readonly name: string;
  /** Undefined: neither x86_64 nor arm64 Linux or Windows runs on it (the Mac types). */
  readonly arch: 'amd64' | 'arm64' | undefined;
  readonly vcpus: number;
  readonly memoryMiB: number;
  /** Network interfaces of the default network card: the one the VPC CNI uses. */
  readonly networkInterfaces: number;
  /** Over all network cards. */
  readonly networkInterfacesTotal: number;
  readonly networkCards: number;
  readonly addressesPerInterface: number;
  readonly efaInterfaces: number;
  /** Branch interfaces for pods; 0 where trunking is not supported or no similar type is known. */
  readonly branchInterfaces: number;
  readonly gpus: readonly GpuFacts[];
  readonly accelerators: readonly AcceleratorFacts[];
  /** All instance-store volumes together, in GB (10⁹ bytes); undefined: none. */
  readonly localStorageGb: number | undefined;
  readonly networkMbps: number | undefined;
  /** Maximum bandwidth, where the type is EBS-optimised by default. */
  readonly ebsMbps: number | undefined;
  /** Undefined: the usual limit of Nitro or of Xen. */
  readonly ebsAttachments: EbsAttachments | undefined;
  /** `nitro`, `xen`, or empty on bare metal. */
  readonly hypervisor: string;
  readonly bareMetal: boolean;
  readonly cpuManufacturer: string;
  readonly cpuClockMhz: number | undefined;
  readonly encryptionInTransit: boolean;
  readonly offersOnDemand: boolean;
  readonly offersSpot: boolean;
  /** An hour, in the currency of the region; undefined: no on-demand offering. */
  readonly onDemandPrice: number | undefined;
  /** An hour, by zone; a zone that is not named has no spot offering. */
  readonly spotPrices: Readonly<Record<string, number>>;
  /** The Spot Instance advisor's band (`<5%` …), for people; undefined: not published. */
  readonly spotInterruption: string | undefined;
  /** Zones where the type is offered, sorted. */
  readonly zones: readonly string[];
}

/** The instance types of one region. Immutable: results are kept by identity. */
export interface Catalog {
  readonly region: string;
  /** Where facts and prices come from, for people. */
  readonly source: string;
  /** Day or month of the on-demand prices (ISO 8601). */
  readonly date: string;
  /** Day or month of the spot prices (ISO 8601). */
  readonly spotDate: string;
  /** Sorted by name. */
  readonly zones: readonly CatalogZone[];
  /** Sorted by name. */
  readonly types: readonly MachineFacts[];
}

/** A price that differs from the catalog's; undefined `zone`: in every zone. */
export interface PriceChange {
  readonly instanceType: string;
  readonly capacityType: 'on-demand' | 'spot';
  /** Spot only: on-demand prices hold for the region. */
  readonly zone: string | undefined;
  /** USD an hour. */
  readonly price: number;
}

/** The catalog with other prices; later changes win. Types that it does not know are left out. */
export function repriced(catalog: Catalog, changes: readonly PriceChange[]): Catalog {
  const byType = Map.groupBy(changes, (change) => change.instanceType);
  const types = catalog.types.map((facts) => {
    const own = byType.get(facts.name);
    return own === undefined ? facts : own.reduce(withPrice, facts);
  });
  return { ...catalog, types };
}

function withPrice(facts: MachineFacts, change: PriceChange): MachineFacts {
  if (change.capacityType === 'on-demand') return { ...facts, onDemandPrice: change.price };
  const zones = change.zone === undefined ? facts.zones : [change.zone];
  const spotPrices = { ...facts.spotPrices };
  for (const zone of zones) if (facts.zones.includes(zone)) spotPrices[zone] = change.price;
  return { ...facts, spotPrices };
}
