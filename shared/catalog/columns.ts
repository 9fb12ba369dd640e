import { branchInterfacesLike } from './branch-interfaces.ts';
import type {
  AcceleratorFacts,
  Catalog,
  CatalogZone,
  EbsAttachments,
  GpuFacts,
  MachineFacts,
} from './facts.ts';
import { spotPricesByZone } from './spot-prices.ts';

/** Columns of the embedded file, in the order in which it lists them. */
export const COLUMNS = [
  'name',
  'arch',
  'vcpus',
  'memoryMiB',
  'networkInterfaces',
  'networkInterfacesTotal',
  'networkCards',
  'addressesPerInterface',
  'efaInterfaces',
  'branchInterfaces',
  'gpus',
  'accelerators',
  'localStorageGb',
  'networkMbps',
  'ebsMbps',
  'ebsAttachments',
  'hypervisor',
  'bareMetal',
  'cpuManufacturer',
  'cpuClockMhz',
  'encryptionInTransit',
  'usage',
  'onDemandPrice',
  'spotAverage',
  'spotLowest',
  'spotHighest',
  'spotInterruption',
  'zones',
] as const;

export type Column = (typeof COLUMNS)[number];

/**
 * The embedded form of a region's catalog: one string a column, its rows separated by `|`, an
 * absent value empty, a limit of EBS volumes with an s where it is shared, devices as
 * `name:manufacturer:count:size` separated by `;`, zones as the letters after the region's name,
 * usage as the letters o (on-demand) and s (spot).
 */
export interface EmbeddedCatalog {
  readonly region: string;
  readonly source: string;
  readonly date: string;
  readonly spotDate: string;
  /** Zone ids by zone name. */
  readonly zones: Readonly<Record<string, string>>;
  readonly columns: Readonly<Record<string, string>>;
}

export const ROW_SEPARATOR = '|';

/** Reads the embedded form; throws an error that names region, column and row where it breaks. */
export function decodeCatalog(embedded: EmbeddedCatalog): Catalog {
  const zones = Object.entries(embedded.zones)
    .map(([zone, zoneId]): CatalogZone => ({ zone, zoneId }))
    .sort((a, b) => (a.zone < b.zone ? -1 : 1));
  const rows = new Map<Column, readonly string[]>();
  for (const column of COLUMNS)
    rows.set(column, embedded.columns[column]?.split(ROW_SEPARATOR) ?? []);
  const names = rows.get('name') ?? [];
  for (const [column, values] of rows) {
    if (values.length !== names.length) {
      throw new Error(
        `catalog ${embedded.region}: column ${column} has ${values.length} rows, ` +
          `${names.length} expected`,
      );
    }
  }
  const listed = names.map((_, row) =>
    machine(new Row(embedded.region, row, rows), embedded.region, zones),
  );
  const limits = rows.get('branchInterfaces');
  const like = branchInterfacesLike(listed);
  const types = listed.map((facts, row) =>
    limits?.[row] === '' ? { ...facts, branchInterfaces: like(facts) } : facts,
  );
  const { region, source, date, spotDate } = embedded;
  return { region, source, date, spotDate, zones, types };
}

class Row {
  readonly #region: string;
  readonly #row: number;
  readonly #columns: ReadonlyMap<Column, readonly string[]>;

  constructor(region: string, row: number, columns: ReadonlyMap<Column, readonly string[]>) {
    this.#region = region;
    this.#row = row;
    this.#columns = columns;
  }

  text(column: Column): string {
    return this.#columns.get(column)?.[this.#row] ?? '';
  }

  optional(column: Column): number | undefined {
    const text = this.text(column);
    return text === '' ? undefined : this.number(column, text);
  }

  number(column: Column, text = this.text(column)): number {
    const value = Number(text);
    if (text !== '' && Number.isFinite(value) && value >= 0) return value;
    throw new Error(
      `catalog ${this.#region}: column ${column} of ${this.text('name')} is "${text}", ` +
        'a number from 0 expected',
    );
  }

  devices(column: Column): readonly (readonly string[])[] {
    const text = this.text(column);
    return text === '' ? [] : text.split(';').map((device) => device.split(':'));
  }
}

function machine(row: Row, region: string, regionZones: readonly CatalogZone[]): MachineFacts {
  const letters = row.text('zones');
  const zones = regionZones
    .map(({ zone }) => zone)
    .filter((zone) => letters.includes(zone.slice(region.length)));
  const arch = row.text('arch');
  const usage = row.text('usage');
  const onDemandPrice = row.optional('onDemandPrice');
  return {
    name: row.text('name'),
    arch: arch === 'amd64' || arch === 'arm64' ? arch : undefined,
    vcpus: row.number('vcpus'),
    memoryMiB: row.number('memoryMiB'),
    networkInterfaces: row.number('networkInterfaces'),
    networkInterfacesTotal: row.number('networkInterfacesTotal'),
    networkCards: row.number('networkCards'),
    addressesPerInterface: row.number('addressesPerInterface'),
    efaInterfaces: row.number('efaInterfaces'),
    branchInterfaces: row.optional('branchInterfaces') ?? 0,
    gpus: row.devices('gpus').map((device) => gpu(row, device)),
    accelerators: row.devices('accelerators').map((device) => accelerator(row, device)),
    localStorageGb: row.optional('localStorageGb'),
    networkMbps: row.optional('networkMbps'),
    ebsMbps: row.optional('ebsMbps'),
    ebsAttachments: ebsAttachments(row),
    hypervisor: row.text('hypervisor'),
    bareMetal: row.text('bareMetal') === 'y',
    cpuManufacturer: row.text('cpuManufacturer'),
    cpuClockMhz: row.optional('cpuClockMhz'),
    encryptionInTransit: row.text('encryptionInTransit') === 'y',
    offersOnDemand: usage.includes('o'),
    offersSpot: usage.includes('s'),
    onDemandPrice,
    spotPrices: spotPrices(row, zones, onDemandPrice),
    spotInterruption: row.text('spotInterruption') || undefined,
    zones,
  };
}

function ebsAttachments(row: Row): EbsAttachments | undefined {
  const text = row.text('ebsAttachments');
  if (text === '') return undefined;
  const isShared = text.endsWith('s');
  const most = row.number('ebsAttachments', isShared ? text.slice(0, -1) : text);
  return { most, isShared };
}

function gpu(row: Row, [name = '', manufacturer = '', count, memory]: readonly string[]): GpuFacts {
  return {
    name,
    manufacturer,
    count: row.number('gpus', count),
    memoryMiB: row.number('gpus', memory),
  };
}

function accelerator(
  row: Row,
  [name = '', manufacturer = '', count, cores]: readonly string[],
): AcceleratorFacts {
  return {
    name,
    manufacturer,
    count: row.number('accelerators', count),
    cores: cores === undefined || cores === '' ? undefined : row.number('accelerators', cores),
  };
}

function spotPrices(
  row: Row,
  zones: readonly string[],
  onDemandPrice: number | undefined,
): Readonly<Record<string, number>> {
  const average = row.optional('spotAverage');
  if (average === undefined) return {};
  const lowest = row.optional('spotLowest') ?? average;
  const highest = row.optional('spotHighest') ?? average;
  return spotPricesByZone({ average, lowest, highest }, zones, onDemandPrice);
}
