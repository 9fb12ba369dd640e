import { allocatable } from '../instance-types/allocatable.ts';
import { interruptibleLabel } from '../instance-types/instance-labels.ts';
import { typeMeets } from '../instance-types/type-requirements.ts';
import type { InstanceType, Offering } from '../model/instance-type.ts';
import {
  CAPACITY_TYPE,
  type CapacityType,
  INSTANCE_LABELS,
  INSTANCE_TYPE,
  ON_DEMAND,
  ownValue,
  RESERVATION_ID,
  RESERVATION_INTERRUPTIBLE,
  RESERVATION_TYPE,
  RESERVED,
  SPOT,
  ZONE,
  ZONE_ID,
} from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { RequirementExpression } from '../model/requirement.ts';
import { fitsResources } from '../model/resources.ts';
import type { SchedulingSettings } from '../model/snapshot.ts';
import { allows, type Requirements, requirementsOf } from '../requirements/value-set.ts';

/** One way to launch a claim. */
export interface LaunchOption {
  readonly type: InstanceType;
  readonly offering: Offering;
}

export interface LaunchChoice {
  readonly capacityType: CapacityType;
  /** By price after overlays, then type, then zone; at most `typesMax` types. */
  readonly options: readonly LaunchOption[];
  readonly priceOverlaid: boolean;
}

/** Why a claim has nothing to launch, with what each filter left. */
export interface NothingToLaunch {
  readonly stages: readonly { readonly what: string; readonly left: number }[];
}

/** Whether where and how the offering is sold meets the requirements. */
export function offeringMeets(requirements: Requirements, offering: Offering): boolean {
  const { zone, zoneId, capacityType, reservation } = offering;
  const labels: readonly (readonly [string, string | undefined])[] = [
    [ZONE, zone],
    [ZONE_ID, zoneId],
    [CAPACITY_TYPE, capacityType],
    [RESERVATION_ID, reservation?.id],
    [RESERVATION_TYPE, reservation?.type],
    [RESERVATION_INTERRUPTIBLE, interruptibleLabel(reservation)],
  ];
  return labels.every(([key, value]) => {
    const set = requirements.get(key);
    return set === undefined || allows(set, value);
  });
}

/** Metal, GPUs and accelerators: used only where no other offering fits. */
function isExotic({ labels }: InstanceType): boolean {
  const has = (key: string): boolean => (labels[key]?.length ?? 0) > 0;
  return (
    (labels[INSTANCE_LABELS.size] ?? []).some((size) => size.startsWith('metal')) ||
    has(INSTANCE_LABELS.gpuCount) ||
    has(INSTANCE_LABELS.acceleratorCount)
  );
}

function compareOptions(a: LaunchOption, b: LaunchOption): number {
  return (
    a.offering.price - b.offering.price ||
    (a.type.name < b.type.name ? -1 : a.type.name > b.type.name ? 1 : 0) ||
    (a.offering.zone < b.offering.zone ? -1 : a.offering.zone > b.offering.zone ? 1 : 0) ||
    ((a.offering.reservation?.id ?? '') < (b.offering.reservation?.id ?? '') ? -1 : 1)
  );
}

/** Only what is no dearer than the cheapest on-demand option; minValues switch this off. */
function withoutDearSpot(options: readonly LaunchOption[]): readonly LaunchOption[] {
  const onDemand = options.filter(({ offering }) => offering.capacityType === ON_DEMAND);
  if (onDemand.length === 0) return options;
  const cheapest = Math.min(...onDemand.map(({ offering }) => offering.price));
  return options.filter(
    ({ offering }) => offering.capacityType !== SPOT || offering.price <= cheapest,
  );
}

/** A fleet buys either from reservations that their owner may take back, or from others. */
function kindOf({ offering: { reservation } }: LaunchOption): string {
  return `${reservation?.type} ${interruptibleLabel(reservation)}`;
}

/** One kind of reservation, and per type and zone the one with the most capacity. */
function withOneReservation(options: readonly LaunchOption[]): readonly LaunchOption[] {
  const first = options[0];
  if (first === undefined) return options;
  const kind = kindOf(first);
  const best = new Map<string, LaunchOption>();
  for (const option of options) {
    if (kindOf(option) !== kind) continue;
    const key = `${option.type.name}/${option.offering.zone}`;
    const before = best.get(key);
    const capacity = option.offering.reservation?.capacity ?? 0;
    if (before === undefined || capacity > (before.offering.reservation?.capacity ?? 0)) {
      best.set(key, option);
    }
  }
  const kept = [...best.values()].sort(compareOptions);
  return first.offering.reservation?.type === 'capacity-block' ? kept.slice(0, 1) : kept;
}

function cheapestTypes(options: readonly LaunchOption[], max: number): readonly LaunchOption[] {
  const names = new Set<string>();
  for (const { type } of options) if (names.size < max) names.add(type.name);
  return options.filter(({ type }) => names.has(type.name));
}

/** Reserved before spot before on-demand: the first for which anything is left. */
function preferredCapacityType(options: readonly LaunchOption[]): CapacityType {
  const present = new Set(options.map(({ offering }) => offering.capacityType));
  if (present.has(RESERVED)) return RESERVED;
  return present.has(SPOT) ? SPOT : ON_DEMAND;
}

/** Whether the types still have as many values of each key as the claim has to keep open. */
export function keepsMinValues(
  requirements: readonly RequirementExpression[],
  types: readonly InstanceType[],
): boolean {
  return requirements.every(({ key, minValues, operator, values }) => {
    if (minValues === undefined) return true;
    if (operator === 'In' && values.length < minValues) return false;
    if (key === INSTANCE_TYPE) return types.length >= minValues;
    const offered = new Set(types.flatMap((type) => ownValue(type.labels, key) ?? []));
    return offered.size === 0 || offered.size >= minValues;
  });
}

/** Every available offering that the claim allows and that its requests fit. */
function compatibleOptions(
  claim: Pick<NodeClaim, 'requirements' | 'requests'>,
  types: readonly InstanceType[],
): { readonly options: readonly LaunchOption[]; readonly stages: NothingToLaunch['stages'] } {
  const requirements = requirementsOf(claim.requirements);
  const matching = types.filter((type) => typeMeets(requirements, type, 'open'));
  const all = matching.flatMap((type) => type.offerings.map((offering) => ({ type, offering })));
  const offered = all.filter(({ offering }) => offeringMeets(requirements, offering));
  const available = offered.filter(({ offering }) => offering.available);
  const options = available.filter(({ type, offering }) =>
    fitsResources(claim.requests, allocatable(type, offering)),
  );
  const stages = [
    { what: 'instance types', left: types.length },
    { what: 'types that meet the requirements', left: matching.length },
    { what: 'offerings that meet the requirements', left: offered.length },
    { what: 'available offerings', left: available.length },
    { what: 'offerings large enough', left: options.length },
  ];
  return { options, stages };
}

/** Every offering that the claim allows and that its requests fit, unavailable ones included. */
export function everyOption(
  claim: Pick<NodeClaim, 'requirements' | 'requests'>,
  types: readonly InstanceType[],
): readonly LaunchOption[] {
  const requirements = requirementsOf(claim.requirements);
  return types
    .filter((type) => typeMeets(requirements, type, 'open'))
    .flatMap((type) => type.offerings.map((offering) => ({ type, offering })))
    .filter(
      ({ type, offering }) =>
        offeringMeets(requirements, offering) &&
        fitsResources(claim.requests, allocatable(type, offering)),
    );
}

/**
 * What to ask the fleet for, narrowed in Karpenter's order: exotic types and dear spot offerings go
 * while others remain, then one capacity type, one reservation, the cheapest types.
 */
export function chooseLaunch(
  claim: Pick<NodeClaim, 'requirements' | 'requests'>,
  types: readonly InstanceType[],
  typesMax: number,
  minValuesPolicy: SchedulingSettings['minValuesPolicy'] = 'Strict',
): LaunchChoice | NothingToLaunch {
  const { options: found, stages } = compatibleOptions(claim, types);
  if (found.length === 0) return { stages };
  const hasMinValues = claim.requirements.some((each) => each.minValues !== undefined);
  if (hasMinValues && minValuesPolicy === 'Strict') {
    const left = [...new Set(found.map(({ type }) => type))];
    // Some may have become short since the claim was planned.
    if (!keepsMinValues(claim.requirements, left)) {
      return { stages: [...stages, { what: 'types as many as minValues asks for', left: 0 }] };
    }
  }
  let options: readonly LaunchOption[] = [...found].sort(compareOptions);
  if (!hasMinValues) {
    const plain = options.filter(({ type }) => !isExotic(type));
    if (plain.length > 0) options = plain;
    options = withoutDearSpot(options);
  }
  const capacityType = preferredCapacityType(options);
  options = options.filter(({ offering }) => offering.capacityType === capacityType);
  if (capacityType === RESERVED) options = withOneReservation(options);
  options = cheapestTypes(options, typesMax);
  return {
    capacityType,
    options,
    priceOverlaid: options.some(({ offering }) => offering.priceOverlay !== undefined),
  };
}
