import { IMAGE_FAMILIES } from '../core/launch/image-families/families.ts';
import type { InstanceType } from '../core/model/instance-type.ts';
import { attachLimitsOf } from './attach-limits.ts';
import { capacityOf, overheadOf } from './capacity.ts';
import { isCompatible } from './compatibility.ts';
import type { Catalog, MachineFacts } from './facts.ts';
import { machineLabels, placementLabels } from './labels.ts';
import { offeringsOf } from './offerings.ts';
import type { LaunchSettings } from './settings.ts';

type Results = Map<string, readonly InstanceType[]>;

/** Kept by the catalog's identity, so that a catalog that is let go takes its results along. */
const results = new WeakMap<Catalog, Results>();
const RESULTS_MAX = 32;

/**
 * The instance types that nodes with these settings can have, sorted by name: labels, capacity,
 * overhead and offerings as Karpenter computes them. Types without any offering are left out.
 * Equal settings on the same catalog share one result; the order of lists does not matter.
 */
export function instanceTypesFor(
  catalog: Catalog,
  settings: LaunchSettings,
): readonly InstanceType[] {
  const ordered = inOrder(settings);
  const key = JSON.stringify(ordered);
  const known = results.get(catalog) ?? new Map<string, readonly InstanceType[]>();
  results.set(catalog, known);
  const before = known.get(key);
  if (before !== undefined) return before;
  const types = catalog.types
    .filter((facts) => isCompatible(facts, ordered))
    .map((facts) => instanceType(catalog, facts, ordered))
    .filter((type) => type.offerings.length > 0);
  if (known.size >= RESULTS_MAX) known.clear();
  known.set(key, types);
  return types;
}

function instanceType(
  catalog: Catalog,
  facts: MachineFacts,
  settings: LaunchSettings,
): InstanceType {
  const zones = settings.zones.filter(({ zone }) => facts.zones.includes(zone));
  const reservations = settings.reservations.filter((each) => each.instanceType === facts.name);
  const capacity = capacityOf(facts, settings);
  const traits = IMAGE_FAMILIES[settings.imageFamily];
  return {
    name: facts.name,
    labels: {
      ...machineLabels(facts),
      ...placementLabels(facts, catalog.region, zones, traits, reservations),
    },
    capacity,
    overhead: overheadOf(facts, settings, capacity),
    offerings: offeringsOf(facts, zones, reservations),
    capacityOverlays: [],
    attachLimits: attachLimitsOf(facts, settings),
  };
}

/** Zones once each and reservations, sorted: their order must not matter. */
function inOrder(settings: LaunchSettings): LaunchSettings {
  const zones = new Map(settings.zones.map((zone) => [zone.zone, zone]));
  return {
    ...settings,
    zones: [...zones.values()].sort((a, b) => (a.zone < b.zone ? -1 : 1)),
    reservations: [...settings.reservations].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
