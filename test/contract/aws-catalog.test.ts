import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ec2Client, pricingClient } from '../../shared/aws/access.ts';
import { CatalogReader, type CatalogReaderParts } from '../../shared/aws/catalog-reader.ts';
import { isEmbeddedRegion, knownMachines, loadCatalog } from '../../shared/catalog/catalog.ts';
import { catalogPort } from '../../shared/catalog/port.ts';
import { C7G_LARGE } from '../builders/ec2-types.ts';
import { accessTo, callsOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { poolKey } from '../support/aws/model/account.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

/** As EC2 answers for it. */
const G5: InstanceTypeInfo = {
  ...C7G_LARGE,
  InstanceType: 'g5.xlarge',
  ProcessorInfo: { SupportedArchitectures: ['x86_64'], Manufacturer: 'AMD' },
  GpuInfo: {
    Gpus: [{ Name: 'A10G', Manufacturer: 'NVIDIA', Count: 1, MemoryInfo: { SizeInMiB: 22888 } }],
  },
  InstanceStorageInfo: { TotalSizeInGB: 250 },
};

const INF2: InstanceTypeInfo = {
  ...C7G_LARGE,
  InstanceType: 'inf2.xlarge',
  NeuronInfo: { NeuronDevices: [{ Name: 'Inferentia2', Count: 1, CoreInfo: { Count: 2 } }] },
};

const MAC: InstanceTypeInfo = {
  ...C7G_LARGE,
  InstanceType: 'mac1.metal',
  ProcessorInfo: { SupportedArchitectures: ['x86_64_mac'] },
};

async function reader({
  region = 'us-east-1',
  ...more
}: Partial<CatalogReaderParts> = {}): Promise<CatalogReader> {
  const access = accessTo(cloud);
  return new CatalogReader({
    ec2: ec2Client(access),
    pricing: pricingClient(access),
    calls: callsOn(cloud),
    region,
    embedded: isEmbeddedRegion(region) ? await loadCatalog(region) : undefined,
    known: await knownMachines(),
    ...more,
  });
}

it('a type read from AWS has the facts that are embedded about it', async () => {
  cloud.account.instanceTypes = [G5, C7G_LARGE, INF2, MAC];
  cloud.account.prices.set(poolKey('c7g.large', 'us-east-1b', 'spot'), 0.03);
  cloud.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.0725 });
  const catalog = await (await reader()).read();
  expect(catalog.types.map(({ name }) => name)).toEqual(['c7g.large', 'g5.xlarge', 'inf2.xlarge']);
  const embedded = await loadCatalog('us-east-1');
  const known = embedded.types.find(({ name }) => name === 'c7g.large');
  expect(catalog.types[0]).toEqual({
    ...known,
    spotPrices: { 'us-east-1b': 0.03 },
    zones: ['us-east-1a', 'us-east-1b', 'us-east-1c'],
  });
  expect(catalog.types[1]).toMatchObject({
    arch: 'amd64',
    localStorageGb: 250,
    gpus: [{ name: 'A10G', manufacturer: 'NVIDIA', count: 1, memoryMiB: 22888 }],
    onDemandPrice: undefined,
    spotPrices: {},
  });
  expect(catalog.types[2]?.accelerators).toEqual([
    { name: 'Inferentia2', manufacturer: 'AWS', count: 1, cores: 2 },
  ]);
});

it('many pages of types and prices are read to the end', async () => {
  const names = Array.from({ length: 1375 }, (_, at) => `c7g.size${at}`);
  cloud.account.instanceTypes = names.map((name) => ({
    ...C7G_LARGE,
    InstanceType: name as 'c7g.large',
  }));
  cloud.onDemandPrices.push(...names.map((instanceType) => ({ instanceType, price: 1 })));
  const catalog = await (await reader()).read();
  expect(catalog.types).toHaveLength(1375);
  expect(catalog.types.every((each) => each.onDemandPrice === 1)).toBe(true);
  expect(cloud.server.callsOf('DescribeInstanceTypes')).toHaveLength(14);
});

it('spot prices are refreshed alone; zones without one have no offering', async () => {
  const embedded = await loadCatalog('us-east-1');
  cloud.account.prices.set(poolKey('c7g.large', 'us-east-1a', 'spot'), 0.02);
  const fresh = await (await reader()).withSpotPrices(embedded);
  const prices = new Map(fresh.types.map((each) => [each.name, each.spotPrices]));
  expect(prices.get('c7g.large')).toEqual({ 'us-east-1a': 0.02 });
  expect(prices.get('m5.large')).toEqual({});
  expect(fresh.spotDate).toBe('2026-01-01');
  expect(fresh.date).toBe(embedded.date);
  expect(cloud.server.calls.map(({ operation }) => operation)).toEqual([
    'DescribeSpotPriceHistory',
  ]);
});

it('an answer without any price is no catalog: what is known is kept', async () => {
  cloud.account.instanceTypes = [C7G_LARGE];
  const readAll = (await reader()).read();
  await expect(readAll).rejects.toMatchObject({
    code: 'NoPrices',
    message: 'pricing:GetProducts: AWS names no on-demand price of us-east-1',
  });
  const refresh = (await reader()).withSpotPrices(await loadCatalog('us-east-1'));
  await expect(refresh).rejects.toMatchObject({
    code: 'NoPrices',
    message: 'ec2:DescribeSpotPriceHistory: AWS names no spot price',
  });
});

it('types that are newer than what is embedded have the branch interfaces of those like them', async () => {
  const names = ['m99g.large', 't99g.large', 'c7g.large'];
  cloud.account.instanceTypes = names.map((name) => ({
    ...C7G_LARGE,
    InstanceType: name as 'c7g.large',
  }));
  cloud.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.0725 });
  const derived: string[] = [];
  const onDerived = (types: readonly string[]): void => void derived.push(...types);
  const catalog = await (await reader({ region: 'ap-south-1', onDerived })).read();
  const interfaces = catalog.types.map((each) => [each.name, each.branchInterfaces]);
  expect(Object.fromEntries(interfaces)).toEqual({
    'c7g.large': 9,
    'm99g.large': 9,
    // Burstable types have no trunking.
    't99g.large': 0,
  });
  expect(derived).toEqual(['m99g.large', 't99g.large']);
});

it('prices of China are in yuan', async () => {
  await cloud.stop();
  cloud = new WireCloud('cn-north-1');
  await cloud.start();
  cloud.account.instanceTypes = [C7G_LARGE];
  cloud.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.6421 });
  const catalog = await (await reader({ region: 'cn-north-1' })).read();
  expect(catalog.types.map(({ onDemandPrice }) => onDemandPrice)).toEqual([0.6421]);
  const { source } = catalogPort('cn-north-1', () => catalog);
  expect(source).toContain('on-demand prices in CNY of ');
});
