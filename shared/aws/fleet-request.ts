import type {
  CreateFleetCommandInput,
  CreateFleetResult,
  FleetLaunchTemplateConfigRequest,
} from '@aws-sdk/client-ec2';
import {
  isOfEverybody,
  isOfNewProfile,
  launchFaultKind,
  mayBeHadElsewhere,
} from '../core/launch/faults.ts';
import { RESERVED, SPOT } from '../core/model/labels.ts';
import { versionOf } from '../core/model/node-class.ts';
import type {
  FleetFault,
  FleetOverride,
  FleetRequest,
  FleetResult,
  LaunchedInstance,
} from '../ports/cloud.ts';
import { faultKind, NO_SPOT_ROLE, plainMessage } from './faults.ts';
import { isInterruptibleReservation } from './interruptible.ts';
import type { TemplateUse } from './launch-templates.ts';
import { nodeClassSpec } from './node-class-spec.ts';
import { tagsOf } from './tags.ts';

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html */
export const OVERRIDES_MAX = 300;
/**
 * Of the overrides as they go over the wire, in bytes: EC2 refuses bodies that are too large and
 * does not say where that begins; 300 overrides of the usual length stay below.
 */
export const OVERRIDES_BYTES_MAX = 150_000;
/** Names of an override's fields with their places, e.g. `&LaunchTemplateConfigs.1.Overrides.12.`. */
const FIELD_BYTES = 45;

function bytesOf(override: FleetOverride): number {
  const texts = [override.instanceType, override.zone, override.subnetId ?? '', override.imageId];
  return [...texts, String(override.priority)].reduce(
    (sum, text) => sum + FIELD_BYTES + text.length,
    0,
  );
}

/** The first overrides, which are the cheapest, up to what EC2 takes. */
export function cappedOverrides(
  overrides: readonly FleetOverride[],
  max = OVERRIDES_MAX,
): readonly FleetOverride[] {
  const kept: FleetOverride[] = [];
  let bytes = 0;
  for (const override of overrides.slice(0, max)) {
    bytes += bytesOf(override);
    if (bytes > OVERRIDES_BYTES_MAX) break;
    kept.push(override);
  }
  return kept;
}

function templateConfig({ name, overrides }: TemplateUse): FleetLaunchTemplateConfigRequest {
  return {
    LaunchTemplateSpecification: { LaunchTemplateName: name, Version: '$Latest' },
    Overrides: overrides.map((each) => ({
      InstanceType: each.instanceType as never,
      SubnetId: each.subnetId,
      AvailabilityZone: each.zone,
      ImageId: each.imageId,
      Priority: each.priority,
    })),
  };
}

type Purchase = Pick<
  CreateFleetCommandInput,
  'SpotOptions' | 'OnDemandOptions' | 'ReservedCapacityOptions'
> & { readonly target: 'spot' | 'on-demand' | 'capacity-block' | 'reserved-capacity' };

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-allocation-strategy.html */
function purchase(fleet: FleetRequest): Purchase {
  const { capacityType, strategy, overrides, reservationType } = fleet;
  if (capacityType === SPOT) {
    const isPrioritised = strategy === 'capacity-optimized-prioritized';
    const chosen = isPrioritised ? strategy : 'price-capacity-optimized';
    return { target: 'spot', SpotOptions: { AllocationStrategy: chosen } };
  }
  if (capacityType === RESERVED) {
    if (reservationType === 'capacity-block') return { target: 'capacity-block' };
    if (isInterruptibleReservation(fleet, overrides[0]?.reservationId)) {
      const types = ['interruptible-capacity-reservation' as const];
      return { target: 'reserved-capacity', ReservedCapacityOptions: { ReservationTypes: types } };
    }
  }
  const chosen = strategy === 'prioritized' ? 'prioritized' : 'lowest-price';
  return { target: 'on-demand', OnDemandOptions: { AllocationStrategy: chosen } };
}

/** The parameters of the call. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFleet.html */
export function fleetInput(
  fleet: FleetRequest,
  uses: readonly TemplateUse[],
): CreateFleetCommandInput {
  const { target, ...options } = purchase(fleet);
  const tags = tagsOf(fleet.tags);
  const { context } = nodeClassSpec(fleet.nodeClass);
  return {
    ClientToken: fleet.clientToken,
    Type: 'instant',
    TargetCapacitySpecification: {
      TotalTargetCapacity: fleet.claims.length,
      DefaultTargetCapacityType: target,
    },
    ...options,
    LaunchTemplateConfigs: uses.map(templateConfig),
    ...(context !== undefined && fleet.sendContext ? { Context: context } : {}),
    TagSpecifications: [
      { ResourceType: 'instance', Tags: tags },
      { ResourceType: 'volume', Tags: tags },
      { ResourceType: 'fleet', Tags: tags },
    ],
  };
}

type FleetError = NonNullable<CreateFleetResult['Errors']>[number];

type Line = Pick<FleetError, 'LaunchTemplateAndOverrides'>;

/** The line of the request that EC2 speaks of: by type and zone, or by type and subnet. */
function lineOf(fleet: FleetRequest, { LaunchTemplateAndOverrides }: Line) {
  const { InstanceType, AvailabilityZone, SubnetId } = LaunchTemplateAndOverrides?.Overrides ?? {};
  return fleet.overrides.find(
    (each) =>
      each.instanceType === InstanceType &&
      (each.zone === AvailabilityZone || each.subnetId === SubnetId),
  );
}

function launched(
  fleet: FleetRequest,
  group: NonNullable<CreateFleetResult['Instances']>[number],
): readonly LaunchedInstance[] {
  const line = lineOf(fleet, group);
  const overrides = group.LaunchTemplateAndOverrides?.Overrides;
  return (group.InstanceIds ?? []).map((id) => ({
    id,
    instanceType: group.InstanceType ?? line?.instanceType ?? '',
    zone: overrides?.AvailabilityZone ?? line?.zone ?? '',
    capacityType: fleet.capacityType,
    reservationId: line?.reservationId,
    imageId: overrides?.ImageId ?? line?.imageId ?? '',
  }));
}

/**
 * A shortage of which EC2 does not say where it is, such as a quota, is one of every line: else the
 * same choice would be made again at once. What the role may not do bars no line.
 */
function faults(fleet: FleetRequest, error: FleetError): readonly FleetFault[] {
  const code = error.ErrorCode ?? 'Unknown';
  const message = plainMessage(error.ErrorMessage ?? '');
  const kind = launchFaultKind(code, message);
  const fault = (line: FleetOverride | undefined): FleetFault => {
    if (line === undefined) return { kind, code, message, offering: undefined };
    const { instanceType, zone, reservationId, subnetId } = line;
    const { capacityType } = fleet;
    const nodeClass = isOfEverybody(kind) ? undefined : versionOf(fleet.nodeClass);
    const offering = { instanceType, zone, capacityType, reservationId, nodeClass };
    return { kind, code, message, offering, subnetId };
  };
  const isAboutRole = code !== NO_SPOT_ROLE && faultKind(code) === 'unauthorised';
  const line = isAboutRole || kind === 'transient' ? undefined : lineOf(fleet, error);
  const isElsewhere = mayBeHadElsewhere({ kind, code });
  const isAboutAll = isElsewhere && (line === undefined || code === NO_SPOT_ROLE);
  return isAboutAll ? fleet.overrides.map(fault) : [fault(line)];
}

/** Each offering's fault once, in the order in which EC2 named them. */
function distinct(all: readonly FleetFault[]): readonly FleetFault[] {
  const seen = new Set<string>();
  return all.filter(({ code, offering }) => {
    const key = `${code}/${offering?.instanceType}/${offering?.zone}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** What passes by itself bars nothing: the claims are tried again. */
function passing({ ErrorCode: code = 'Unknown', ErrorMessage: message = '' }: FleetError) {
  return { kind: 'transient', code, message, offering: undefined } as const;
}

export function fleetResult(fleet: FleetRequest, answer: CreateFleetResult): FleetResult {
  const errors = answer.Errors ?? [];
  const isEarly = errors.some(({ ErrorCode = '', ErrorMessage = '' }) =>
    isOfNewProfile(ErrorCode, ErrorMessage),
  );
  const faultsOf = (each: FleetError): readonly FleetFault[] =>
    // Lines of a profile that is not known yet are also refused as unfulfillable.
    isEarly && each.ErrorCode === 'UnfulfillableCapacity' ? [passing(each)] : faults(fleet, each);
  return {
    instances: (answer.Instances ?? []).flatMap((each) => launched(fleet, each)),
    faults: distinct(errors.flatMap(faultsOf)),
  };
}
