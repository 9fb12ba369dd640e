/**
 * Writes the embedded catalog of each region given: `node scripts/gen-catalog.ts FILE…`, where a
 * FILE holds one region's instance types as docs/catalog.md describes them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as z from 'zod';
import {
  COLUMNS,
  type Column,
  decodeCatalog,
  type EmbeddedCatalog,
  ROW_SEPARATOR,
} from '../shared/catalog/columns.ts';

const device = z.object({
  name: z.string(),
  manufacturer: z.string(),
  count: z.number(),
  cores: z.number().optional(),
  memoryMiB: z.number().optional(),
});

const sourceType = z.object({
  name: z.string(),
  arch: z.enum(['amd64', 'arm64']).nullable(),
  vcpu: z.number(),
  memoryMiB: z.number(),
  enis: z.number(),
  enisTotal: z.number(),
  ipv4PerEni: z.number(),
  networkCards: z.number(),
  efaInterfaces: z.number(),
  branchEnis: z.number().nullable(),
  gpus: z.array(device),
  accelerators: z.array(device),
  localNvmeGiB: z.number().nullable(),
  networkMbps: z.number().nullable(),
  ebsMbps: z.number().nullable(),
  ebsAttachments: z.object({ most: z.number(), isShared: z.boolean() }).nullable(),
  hypervisor: z.string(),
  bareMetal: z.boolean(),
  cpuManufacturer: z.string(),
  cpuClockMHz: z.number().nullable(),
  encryptionInTransit: z.boolean(),
  usageClasses: z.array(z.string()),
  onDemandPrice: z.number().nullable(),
  onDemandPriceSource: z.string().nullable(),
  spotPriceAvg: z.number().nullable(),
  spotPriceMin: z.number().nullable(),
  spotPriceMax: z.number().nullable(),
  spotInterruptPct: z.string().nullable(),
  zones: z.array(z.string()).min(1),
  zoneIds: z.array(z.string()).min(1),
});

const sourceCatalog = z.object({
  region: z.string(),
  generatedFrom: z.record(z.string(), z.string()),
  types: z.array(sourceType).min(1),
});

type SourceType = z.infer<typeof sourceType>;
type SourceCatalog = z.infer<typeof sourceCatalog>;
type Device = z.infer<typeof device>;

const devices = (list: readonly Device[], size: (each: Device) => number | undefined): string =>
  list
    .map((each) => [each.name, each.manufacturer, each.count, size(each) ?? ''].join(':'))
    .join(';');

const flag = (value: boolean): string => (value ? 'y' : '');

const usage = (classes: readonly string[]): string =>
  (classes.includes('on-demand') ? 'o' : '') + (classes.includes('spot') ? 's' : '');

/** How each column is written; null and undefined become the empty cell. */
const CELLS: Readonly<
  Record<Column, (type: SourceType, region: string) => string | number | null>
> = {
  name: (type) => type.name,
  arch: (type) => type.arch,
  vcpus: (type) => type.vcpu,
  memoryMiB: (type) => type.memoryMiB,
  networkInterfaces: (type) => type.enis,
  networkInterfacesTotal: (type) => type.enisTotal,
  networkCards: (type) => type.networkCards,
  addressesPerInterface: (type) => type.ipv4PerEni,
  efaInterfaces: (type) => type.efaInterfaces,
  branchInterfaces: (type) => type.branchEnis,
  gpus: (type) => devices(type.gpus, (gpu) => gpu.memoryMiB),
  accelerators: (type) => devices(type.accelerators, (each) => each.cores),
  localStorageGb: (type) => type.localNvmeGiB,
  networkMbps: (type) => type.networkMbps,
  ebsMbps: (type) => type.ebsMbps,
  ebsAttachments: ({ ebsAttachments: each }) =>
    each === null ? null : `${each.most}${each.isShared ? 's' : ''}`,
  hypervisor: (type) => type.hypervisor,
  bareMetal: (type) => flag(type.bareMetal),
  cpuManufacturer: (type) => type.cpuManufacturer,
  cpuClockMhz: (type) => type.cpuClockMHz,
  encryptionInTransit: (type) => flag(type.encryptionInTransit),
  usage: (type) => usage(type.usageClasses),
  onDemandPrice: (type) => type.onDemandPrice,
  spotAverage: (type) => type.spotPriceAvg,
  spotLowest: (type) => type.spotPriceMin,
  spotHighest: (type) => type.spotPriceMax,
  spotInterruption: (type) => type.spotInterruptPct,
  zones: (type, region) =>
    [...type.zones]
      .sort()
      .map((zone) => zone.slice(region.length))
      .join(''),
};

/**
 * Zone ids by zone name. The source lists both per type, each sorted on its own: a zone and its id
 * belong together when they occur in exactly the same types.
 */
export function zoneIdsByZone(types: readonly SourceType[]): Readonly<Record<string, string>> {
  const occurrences = (names: (type: SourceType) => readonly string[]): Map<string, string> => {
    const rows = new Map<string, string>();
    types.forEach((type, row) => {
      for (const name of names(type)) rows.set(name, `${rows.get(name) ?? ''} ${row}`);
    });
    return rows;
  };
  const ids = occurrences((type) => type.zoneIds);
  const pairs: Record<string, string> = {};
  for (const [zone, rows] of [...occurrences((type) => type.zones)].sort()) {
    const same = [...ids].filter(([, other]) => other === rows).map(([id]) => id);
    const [id] = same;
    if (id === undefined || same.length > 1) {
      throw new Error(`zone ${zone}: its id is not determined (${same.join(', ') || 'none fits'})`);
    }
    pairs[zone] = id;
  }
  return pairs;
}

/** `karpenter-2026-07` → `2026-07`: the latest date that the price sources carry. */
function priceDate(types: readonly SourceType[]): string {
  const dates = types.map(
    (type) => /\d{4}-\d{2}(-\d{2})?$/.exec(type.onDemandPriceSource ?? '')?.[0],
  );
  return (
    dates
      .filter((date) => date !== undefined)
      .sort()
      .at(-1) ?? 'unknown'
  );
}

/** The day in a Go pseudo-version (`v0.0.0-20250528091325`) of the spot prices' source. */
function spotDate(generatedFrom: Readonly<Record<string, string>>): string {
  const entry = Object.entries(generatedFrom).find(([what]) => what.includes('spot'))?.[1] ?? '';
  const day = /-(\d{4})(\d{2})(\d{2})\d{6}/.exec(entry);
  return day === null ? 'unknown' : `${day[1]}-${day[2]}-${day[3]}`;
}

export function encodeCatalog(source: SourceCatalog): EmbeddedCatalog {
  const types = [...source.types].sort((a, b) => (a.name < b.name ? -1 : 1));
  const column = (name: Column): string =>
    types
      .map((type) => {
        const cell = String(CELLS[name](type, source.region) ?? '');
        if (!cell.includes(ROW_SEPARATOR)) return cell;
        throw new Error(`${type.name}: "${cell}" contains the row separator`);
      })
      .join(ROW_SEPARATOR);
  return {
    region: source.region,
    source: Object.entries(source.generatedFrom)
      .map(([what, where]) => `${what}: ${where}`)
      .join('; '),
    date: priceDate(types),
    spotDate: spotDate(source.generatedFrom),
    zones: zoneIdsByZone(types),
    columns: Object.fromEntries(COLUMNS.map((name) => [name, column(name)])),
  };
}

function main(files: readonly string[]): void {
  if (files.length === 0) throw new Error('usage: gen-catalog.ts FILE… (one file a region)');
  for (const file of files) {
    const embedded = encodeCatalog(sourceCatalog.parse(JSON.parse(readFileSync(file, 'utf8'))));
    const types = decodeCatalog(embedded).types.length;
    const text = `${JSON.stringify(embedded, null, 1)}\n`;
    const target = new URL(`../shared/catalog/data/${embedded.region}.json`, import.meta.url);
    writeFileSync(target, text);
    const size = Math.round(gzipSync(text).length / 1024);
    console.log(`${embedded.region}: ${types} types, ${size} KiB gzipped`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
