import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadCatalog, REGIONS } from '../../shared/catalog/catalog.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { instanceTypesFor } from '../../shared/catalog/instance-types.ts';
import {
  DEFAULT_KUBELET,
  DEFAULT_LAUNCH_SETTINGS,
  type LaunchSettings,
} from '../../shared/catalog/settings.ts';
import { spotPricesByZone } from '../../shared/catalog/spot-prices.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { WELL_KNOWN_LABELS } from '../../shared/core/model/labels.ts';

const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
const MIB = 2 ** 20;

const settingsFor = (catalog: Catalog): fc.Arbitrary<LaunchSettings> =>
  fc.record({
    imageFamily: fc.constantFrom(
      'AL2',
      'AL2023',
      'Bottlerocket',
      'Custom',
      'Windows2019',
      'Windows2022',
      'Windows2025',
    ),
    zones: fc.shuffledSubarray([...catalog.zones]),
    kubelet: fc.record({
      maxPods: fc.option(fc.integer({ min: 0, max: 250 }), { nil: undefined }),
      podsPerCore: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
      kubeReserved: fc.constant(DEFAULT_KUBELET.kubeReserved),
      systemReserved: fc.constantFrom({}, { cpu: 100, memory: 100 * MIB }),
      memoryAvailable: fc.constantFrom(undefined, { percent: 5 }, { amount: 200 * MIB }),
      storageAvailable: fc.constantFrom(undefined, { percent: 15 }, { percent: 100 }),
    }),
    blockDevices: fc.constant(DEFAULT_LAUNCH_SETTINGS.blockDevices),
    instanceStoreRaid: fc.boolean(),
    networkInterfaces: fc.constant(undefined),
    nestedVirtualization: fc.boolean(),
    connectionTracking: fc.boolean(),
    reservations: fc.constant([]),
    reservedNetworkInterfaces: fc.integer({ min: 0, max: 3 }),
    memoryOverhead: fc.double({ min: 0, max: 0.2, noNaN: true }),
  });

function expectSound(type: InstanceType): void {
  for (const amount of Object.values(type.capacity)) {
    expect(Number.isSafeInteger(amount) && amount >= 0).toBe(true);
  }
  for (const part of Object.values(type.overhead)) {
    for (const amount of Object.values(part)) expect(Number.isSafeInteger(amount)).toBe(true);
    for (const amount of Object.values(part)) expect(amount).toBeGreaterThanOrEqual(0);
  }
  for (const [key, values] of Object.entries(type.labels)) {
    expect(WELL_KNOWN_LABELS.has(key)).toBe(true);
    for (const value of values ?? []) expect(value).toMatch(LABEL_VALUE);
    expect(values === null || values.length > 0).toBe(true);
  }
}

function expectSoundOfferings(type: InstanceType): void {
  expect(type.offerings.length).toBeGreaterThan(0);
  const onDemand = type.offerings.find((each) => each.capacityType === 'on-demand')?.price;
  const keys = type.offerings.map((each) => `${each.zone} ${each.capacityType}`);
  expect(new Set(keys).size).toBe(keys.length);
  for (const offering of type.offerings) {
    expect(offering.price).toBeGreaterThan(0);
    expect(offering.price).toBeLessThanOrEqual(onDemand ?? Infinity);
    expect(type.labels['topology.kubernetes.io/zone']).toContain(offering.zone);
    expect(type.labels['karpenter.sh/capacity-type']).toContain(offering.capacityType);
  }
}

describe.each(REGIONS)('instance types of %s', async (region) => {
  const catalog = await loadCatalog(region);

  test('are sound whatever the settings', () => {
    fc.assert(
      fc.property(settingsFor(catalog), fc.nat(), (settings, seed) => {
        const types = instanceTypesFor(catalog, settings);
        const names = types.map((each) => each.name);
        expect(names).toEqual([...names].sort());
        for (let index = seed % 37; index < types.length; index += 37) {
          const type = types[index];
          if (type === undefined) continue;
          expectSound(type);
          expectSoundOfferings(type);
        }
      }),
      { numRuns: 15 },
    );
  });

  test('do not depend on the order of the catalog or the zones', () => {
    const reversed = { ...catalog, types: [...catalog.types].reverse() };
    fc.assert(
      fc.property(settingsFor(catalog), (settings) => {
        const there = instanceTypesFor(catalog, settings);
        const back = instanceTypesFor(reversed, {
          ...settings,
          zones: [...settings.zones].reverse(),
        });
        expect(new Map(back.map((each) => [each.name, each]))).toEqual(
          new Map(there.map((each) => [each.name, each])),
        );
      }),
      { numRuns: 3 },
    );
  });

  test('no zone, no types', () => {
    expect(instanceTypesFor(catalog, DEFAULT_LAUNCH_SETTINGS)).toEqual([]);
  });
});

test('spot prices stay within their range and at or below on-demand', () => {
  const price = fc.double({ min: 0.001, max: 100, noNaN: true });
  const zones = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 });
  fc.assert(
    fc.property(price, price, price, price, zones, (average, a, b, onDemand, names) => {
      const range = { average, lowest: Math.min(a, b), highest: Math.max(a, b) };
      const prices = spotPricesByZone(range, names, onDemand);
      expect(Object.keys(prices).sort()).toEqual([...names].sort());
      for (const each of Object.values(prices)) {
        expect(each).toBeLessThanOrEqual(Math.min(range.highest, onDemand));
        expect(each).toBeGreaterThanOrEqual(Math.min(range.lowest, onDemand));
      }
    }),
  );
});
