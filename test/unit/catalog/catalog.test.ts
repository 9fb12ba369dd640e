import { describe, expect, test } from 'vitest';
import { encodeCatalog, zoneIdsByZone } from '../../../scripts/gen-catalog.ts';
import { loadCatalog, REGIONS, UnknownRegionError } from '../../../shared/catalog/catalog.ts';
import { decodeCatalog } from '../../../shared/catalog/columns.ts';
import { spotPricesByZone } from '../../../shared/catalog/spot-prices.ts';

const source = {
  name: 'x9.large',
  arch: 'arm64' as const,
  vcpu: 2,
  memoryMiB: 4096,
  enis: 3,
  enisTotal: 4,
  ipv4PerEni: 10,
  networkCards: 2,
  efaInterfaces: 1,
  branchEnis: null,
  gpus: [{ name: 'RTX PRO 4500', manufacturer: 'NVIDIA', count: 1, memoryMiB: 32768 }],
  accelerators: [{ name: 'Trainium', manufacturer: 'AWS', count: 2, cores: 4 }],
  localNvmeGiB: null,
  networkMbps: 1000,
  ebsMbps: null,
  ebsAttachments: { most: 26, isShared: true },
  hypervisor: 'nitro',
  bareMetal: false,
  cpuManufacturer: 'aws',
  cpuClockMHz: 2600,
  encryptionInTransit: true,
  usageClasses: ['on-demand', 'spot'],
  onDemandPrice: 0.5,
  onDemandPriceSource: 'list-2026-07',
  spotPriceAvg: 0.2,
  spotPriceMin: 0.1,
  spotPriceMax: 0.6,
  spotInterruptPct: '<5%',
  zones: ['mars-1b', 'mars-1a'],
  zoneIds: ['m1-az1', 'm1-az3'],
};

const other = { ...source, name: 'a9.large', zones: ['mars-1b'], zoneIds: ['m1-az1'] };

const region = {
  region: 'mars-1',
  generatedFrom: { 'spot prices': 'a list v0.0.0-20250528091325', facts: 'another list' },
  types: [source, other],
};

describe('embedded regions', () => {
  test.each([
    ['eu-west-1', 1184, '2025-05', { zone: 'eu-west-1a', zoneId: 'euw1-az3' }],
    ['us-east-1', 1375, '2026-07', { zone: 'us-east-1a', zoneId: 'use1-az2' }],
    ['us-west-2', 1354, '2025-05', { zone: 'us-west-2a', zoneId: 'usw2-az2' }],
  ])('%s', async (name, types, date, firstZone) => {
    const catalog = await loadCatalog(name);
    expect(catalog.region).toBe(name);
    expect(catalog.types).toHaveLength(types);
    expect(catalog.date).toBe(date);
    expect(catalog.spotDate).toBe('2025-05-28');
    expect(catalog.source).toContain('moto');
    expect(catalog.zones[0]).toEqual(firstZone);
    expect(await loadCatalog(name)).toBe(catalog);
  });

  test('an unknown region names those that there are', async () => {
    await expect(loadCatalog('mars-1')).rejects.toThrow(UnknownRegionError);
    await expect(loadCatalog('mars-1')).rejects.toThrow(
      `no embedded catalog for region "mars-1"; there is one for ${REGIONS.join(', ')}`,
    );
  });
});

describe('spot prices by zone', () => {
  const range = { average: 3, lowest: 1, highest: 5 };
  test('average, then lowest and highest in turn, in alphabetical order', () => {
    expect(spotPricesByZone(range, ['d', 'b', 'a', 'c'], undefined)).toEqual({
      a: 3,
      b: 1,
      c: 5,
      d: 1,
    });
  });

  test('held between lowest and highest, cut at on-demand', () => {
    expect(spotPricesByZone({ ...range, average: 9 }, ['a', 'b', 'c'], 4)).toEqual({
      a: 4,
      b: 1,
      c: 4,
    });
    expect(spotPricesByZone({ ...range, average: 0.5 }, ['a'], undefined)).toEqual({ a: 1 });
  });

  test('a price of zero is no price', () => {
    expect(spotPricesByZone({ average: 0, lowest: 0, highest: 0 }, ['a'], 1)).toEqual({});
  });
});

describe('the embedded form', () => {
  test('keeps every fact, types sorted, prices by zone', () => {
    const catalog = decodeCatalog(encodeCatalog(region));
    expect(catalog).toMatchObject({
      region: 'mars-1',
      source: 'spot prices: a list v0.0.0-20250528091325; facts: another list',
      date: '2026-07',
      spotDate: '2025-05-28',
      zones: [
        { zone: 'mars-1a', zoneId: 'm1-az3' },
        { zone: 'mars-1b', zoneId: 'm1-az1' },
      ],
    });
    expect(catalog.types.map((each) => each.name)).toEqual(['a9.large', 'x9.large']);
    expect(catalog.types[1]).toEqual({
      name: 'x9.large',
      arch: 'arm64',
      vcpus: 2,
      memoryMiB: 4096,
      networkInterfaces: 3,
      networkInterfacesTotal: 4,
      networkCards: 2,
      addressesPerInterface: 10,
      efaInterfaces: 1,
      branchInterfaces: 0,
      gpus: [{ name: 'RTX PRO 4500', manufacturer: 'NVIDIA', count: 1, memoryMiB: 32768 }],
      accelerators: [{ name: 'Trainium', manufacturer: 'AWS', count: 2, cores: 4 }],
      localStorageGb: undefined,
      networkMbps: 1000,
      ebsMbps: undefined,
      ebsAttachments: { most: 26, isShared: true },
      hypervisor: 'nitro',
      bareMetal: false,
      cpuManufacturer: 'aws',
      cpuClockMhz: 2600,
      encryptionInTransit: true,
      offersOnDemand: true,
      offersSpot: true,
      onDemandPrice: 0.5,
      spotPrices: { 'mars-1a': 0.2, 'mars-1b': 0.1 },
      spotInterruption: '<5%',
      zones: ['mars-1a', 'mars-1b'],
    });
  });

  test('a zone whose id cannot be told is an error', () => {
    expect(() => zoneIdsByZone([source])).toThrow('zone mars-1a: its id is not determined');
  });

  test('broken columns are named', () => {
    const embedded = encodeCatalog(region);
    const broken = (columns: Readonly<Record<string, string>>) => () =>
      decodeCatalog({ ...embedded, columns: { ...embedded.columns, ...columns } });
    expect(broken({ vcpus: '2' })).toThrow('catalog mars-1: column vcpus has 1 rows, 2 expected');
    expect(broken({ vcpus: '2|x' })).toThrow('column vcpus of x9.large is "x"');
    expect(broken({ vcpus: '2|-1' })).toThrow('column vcpus of x9.large is "-1"');
  });
});
