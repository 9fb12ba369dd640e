import { chooseLaunch, keepsMinValues } from '../../launch/overrides.ts';
import { missing } from '../../missing.ts';
import type { InstanceType } from '../../model/instance-type.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from '../../model/labels.ts';
import type { PlannedNodeClaim } from '../../model/plan.ts';
import type { RequirementExpression } from '../../model/requirement.ts';

/** The requirements, with only these values of the key. */
function only(
  requirements: readonly RequirementExpression[],
  key: string,
  values: readonly string[],
): readonly RequirementExpression[] {
  return requirements.map((each) => {
    const isListed = each.key === key && each.operator === 'In';
    return isListed ? { ...each, values: each.values.filter((one) => values.includes(one)) } : each;
  });
}

/** The most that each type could come to cost, by its name: EC2 may choose another zone. */
function worstPrices(
  planned: PlannedNodeClaim,
  types: readonly InstanceType[],
): ReadonlyMap<string, number> {
  // minValues are looked at once it is known which types stay.
  const choice = chooseLaunch(planned, types, Number.POSITIVE_INFINITY, 'BestEffort');
  const worst = new Map<string, number>();
  if ('stages' in choice) return worst;
  for (const { type, offering } of choice.options) {
    worst.set(type.name, Math.max(worst.get(type.name) ?? 0, offering.price));
  }
  return worst;
}

/** The most that each of the types could come to cost, by name, as the chosen capacity type. */
export function dearest(
  planned: PlannedNodeClaim,
  types: readonly InstanceType[],
): ReadonlyMap<string, number> {
  const requirements = only(planned.requirements, CAPACITY_TYPE, [planned.chosen.capacityType]);
  return worstPrices({ ...planned, requirements }, types);
}

/** Where the claim may be launched as the plan chose, each with the worst prices there. */
interface Places {
  readonly types: readonly InstanceType[];
  readonly requirements: readonly (readonly RequirementExpression[])[];
  readonly worst: (ReadonlyMap<string, number> | undefined)[];
}

/** Worked out once for a claim: ever smaller prices are asked of it. */
const placesOf = new WeakMap<PlannedNodeClaim, Places>();

/** In any zone, and in the one that the plan chose. */
function placesFor(planned: PlannedNodeClaim, types: readonly InstanceType[]): Places {
  const before = placesOf.get(planned);
  if (before?.types === types) return before;
  const { chosen } = planned;
  const pinned = only(planned.requirements, CAPACITY_TYPE, [chosen.capacityType]);
  const inZone = only(pinned, ZONE, [chosen.zone]);
  const places: Places = { types, requirements: [pinned, inZone], worst: [] };
  placesOf.set(planned, places);
  return places;
}

/** Whether the types are sold in as many zones as the claim has to keep open. */
function keepsZones(
  requirements: readonly RequirementExpression[],
  types: readonly InstanceType[],
): boolean {
  return requirements.every(({ key, values, minValues = 0 }) => {
    if (key !== ZONE) return true;
    const offerings = types.flatMap((type) => type.offerings.filter((each) => each.available));
    const zones = new Set(offerings.map(({ zone }) => zone));
    return values.filter((zone) => zones.has(zone)).length >= minValues;
  });
}

/** A claim that names fewer types, and the most that it could come to cost an hour. */
export interface Narrowed {
  readonly claim: PlannedNodeClaim;
  readonly priceMax: number;
}

/** How many types a claim has to leave open, and how many it may: the cheapest are kept. */
export interface TypeCount {
  readonly min: number;
  readonly max: number;
}

/**
 * The claim with only those types that cost no more than `priceMax` an hour whatever EC2 chooses,
 * and only the capacity type that the plan chose: a shortage must not make a saving a loss. Where
 * the dearest zone leaves fewer types than it takes, only the zone that the plan chose, if that
 * leaves more. Undefined: too few types would be left.
 */
export function narrowed(
  planned: PlannedNodeClaim,
  types: readonly InstanceType[],
  priceMax: number,
  count: TypeCount,
): Narrowed | undefined {
  const { chosen } = planned;
  const places = placesFor(planned, types);
  const byName = new Map(types.map((type) => [type.name, type]));
  let most: Narrowed | undefined;
  for (const [at, requirements] of places.requirements.entries()) {
    places.worst[at] ??= worstPrices({ ...planned, requirements }, types);
    const worst = places.worst[at];
    // Without a price the type cannot be launched so: as another capacity type, perhaps.
    const isKept = (name: string): boolean => (worst.get(name) ?? Number.NaN) <= priceMax;
    if (!isKept(chosen.type)) continue;
    const kept = planned.instanceTypes.filter(isKept).slice(0, count.max);
    const narrow = only(requirements, INSTANCE_TYPE, kept);
    const left = kept.map((name) => byName.get(name) ?? missing(name));
    if (kept.length <= (most?.claim.instanceTypes.length ?? 0)) continue;
    if (!keepsMinValues(narrow, left) || !keepsZones(narrow, left)) continue;
    const prices = kept.map((name) => worst.get(name) ?? missing(name));
    const claim = { ...planned, requirements: narrow, instanceTypes: kept };
    most = { claim, priceMax: Math.max(...prices) };
    if (kept.length >= count.min) return most;
  }
  return most;
}
