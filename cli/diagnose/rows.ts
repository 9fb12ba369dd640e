import type { InstanceType, Offering } from '../../shared/core/model/instance-type.ts';
import { formatQuantity } from '../../shared/core/quantity.ts';
import { launchableTypes } from './launchable.ts';
import type { Diagnosis } from './source.ts';

export interface Selection {
  /** Empty = all. */
  readonly nodePools: readonly string[];
  /** Empty = all. */
  readonly overlays: readonly string[];
  /** Also what no overlay changes. */
  readonly all: boolean;
  /** A row for each zone. */
  readonly zones: boolean;
}

/** What overlays do to one capacity type of one instance type in one NodePool. */
export interface Row {
  readonly nodePool: string;
  readonly overlays: readonly string[];
  readonly instanceType: string;
  readonly capacityType: string;
  /** The only one, or undefined where the row stands for all. */
  readonly zone: string | undefined;
  /** USD an hour, the lowest over the zones. */
  readonly listPrice: number;
  readonly price: number;
  /** Another zone has another list or adjusted price. */
  readonly zonesDiffer: boolean;
  /** Resources that overlays set: `name: before → after`. */
  readonly capacity: readonly string[];
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function amountText(amount: number | undefined, name: string): string {
  return amount === undefined ? 'none' : formatQuantity(amount, name);
}

/** Resources that overlays set on a type, with what it had before. */
function capacityTexts(
  { nodeOverlays }: Diagnosis,
  before: InstanceType | undefined,
  after: InstanceType,
): readonly string[] {
  const set = nodeOverlays
    .filter(({ name }) => after.capacityOverlays.includes(name))
    .flatMap(({ capacity }) => Object.keys(capacity));
  return [...new Set(set)].sort(compareTexts).map((name) => {
    const old = before?.capacity[name];
    const now = amountText(after.capacity[name], name);
    return old === undefined ? `${name}: ${now}` : `${name}: ${amountText(old, name)} → ${now}`;
  });
}

function rowOf(
  offerings: readonly Offering[],
  { nodePool, type }: { readonly nodePool: string; readonly type: InstanceType },
  capacity: readonly string[],
  isOneZone: boolean,
): Row {
  const [first] = offerings;
  // What can be bought counts; where nothing can, the prices are shown all the same.
  const available = offerings.filter((each) => each.available);
  const counted = available.length > 0 ? available : offerings;
  const priced = offerings.flatMap(({ priceOverlay }) => priceOverlay ?? []);
  return {
    nodePool,
    overlays: [...new Set([...priced, ...type.capacityOverlays])].sort(compareTexts),
    instanceType: type.name,
    capacityType: first?.capacityType ?? '',
    zone: isOneZone ? first?.zone : undefined,
    listPrice: Math.min(...counted.map((each) => each.listPrice)),
    price: Math.min(...counted.map((each) => each.price)),
    zonesDiffer: counted.some(
      (each) => each.price !== counted[0]?.price || each.listPrice !== counted[0]?.listPrice,
    ),
    capacity,
  };
}

/**
 * Rows by NodePool, type and capacity type (and zone), in the order of their names; without what
 * the NodePool's requirements rule out.
 */
export function rowsOf(diagnosis: Diagnosis, selection: Selection): readonly Row[] {
  const { nodePools, resolution } = diagnosis;
  const pools = [...launchableTypes(nodePools, resolution.instanceTypes)]
    .filter(([pool]) => selection.nodePools.length === 0 || selection.nodePools.includes(pool))
    .sort(([a], [b]) => compareTexts(a, b));
  return pools.flatMap(([nodePool, types]) => {
    const before = new Map(diagnosis.before.get(nodePool)?.map((type) => [type.name, type]));
    const sorted = [...types].sort((a, b) => compareTexts(a.name, b.name));
    return sorted.flatMap((type) => {
      const capacity = capacityTexts(diagnosis, before.get(type.name), type);
      const groups = Map.groupBy(type.offerings, ({ capacityType, zone }) =>
        selection.zones ? `${capacityType}/${zone}` : capacityType,
      );
      const named = [...groups].sort(([a], [b]) => compareTexts(a, b));
      return named
        .map(([, each]) => rowOf(each, { nodePool, type }, capacity, selection.zones))
        .filter((row) => isSelected(row.overlays, selection));
    });
  });
}

/** Whether something that these overlays changed is asked for. */
export function isSelected(overlays: readonly string[], { overlays: asked, all }: Selection) {
  if (all) return true;
  if (asked.length === 0) return overlays.length > 0;
  return overlays.some((name) => asked.includes(name));
}
