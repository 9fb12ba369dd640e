/**
 * What EC2 refuses a launch for, by what it means to the next one. docs/decisions/0051-faults-by-kind.md
 */
export type LaunchFaultKind =
  | 'shortage'
  | 'quota'
  | 'reservation'
  | 'subnet'
  | 'class'
  | 'transient'
  | 'unknown';

/** What bars something: all but what passes by itself. */
export type BarKind = Exclude<LaunchFaultKind, 'transient'>;

/** What a fault bars, for how long, and how it is forgotten. */
export interface FaultRule {
  readonly bars: string;
  readonly firstMs: number;
  /** The same as `firstMs`: it is barred no longer each time. */
  readonly maxMs: number;
  /** What ends it, for people. */
  readonly ends: string;
}

const MINUTE_MS = 60_000;
const SHORT_BAR = { firstMs: 3 * MINUTE_MS, maxMs: 3 * MINUTE_MS } as const;

/** Three minutes are Karpenter's. */
export const FAULTS: Readonly<Record<BarKind, FaultRule>> = {
  shortage: {
    bars: 'the offering',
    firstMs: 3 * MINUTE_MS,
    maxMs: 360 * MINUTE_MS,
    ends: 'its expiry; the time doubles after each error',
  },
  quota: {
    bars: 'the offering',
    ...SHORT_BAR,
    ends: 'its expiry, or the end of an instance of Joiner',
  },
  reservation: {
    bars: 'the offering of the reservation',
    firstMs: 3 * MINUTE_MS,
    maxMs: 360 * MINUTE_MS,
    ends: 'its expiry, or free capacity in the reservation',
  },
  subnet: { bars: 'the subnet', ...SHORT_BAR, ends: 'its expiry' },
  class: {
    bars: 'the offering for the EC2NodeClass',
    ...SHORT_BAR,
    ends: 'its expiry, or a change of the EC2NodeClass',
  },
  unknown: { bars: 'the fleet override', ...SHORT_BAR, ends: 'its expiry' },
};

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html */
const CODES: Readonly<Record<Exclude<LaunchFaultKind, 'unknown'>, readonly string[]>> = {
  shortage: [
    'InsufficientInstanceCapacity',
    'InsufficientCapacity',
    'InsufficientHostCapacity',
    'UnfulfillableCapacity',
  ],
  // Without its service-linked role the account may have no spot instance at all.
  quota: [
    'VcpuLimitExceeded',
    'InstanceLimitExceeded',
    'MaxSpotInstanceCountExceeded',
    'MaxSpotFleetRequestCountExceeded',
    'MaxFleetCountExceeded',
    'AuthFailure.ServiceLinkedRoleCreationNotPermitted',
  ],
  reservation: [
    'ReservationCapacityExceeded',
    'InsufficientCapacityInReservation',
    'InvalidCapacityReservationState.Unavailable',
  ],
  subnet: ['InsufficientFreeAddressesInSubnet'],
  class: [
    'Unsupported',
    'UnsupportedOperation',
    'InvalidBlockDeviceMapping',
    'InvalidKeyPair.NotFound',
    'InvalidSubnetID.NotFound',
  ],
  transient: [
    'InternalError',
    'InternalFailure',
    'ServerInternal',
    'ServiceUnavailable',
    'Unavailable',
    'RequestLimitExceeded',
    'RequestThrottled',
    'RequestThrottledException',
    'EC2ThrottledException',
    'Throttling',
    'ThrottlingException',
    'ThrottledException',
    'TooManyRequestsException',
    'PriorRequestNotComplete',
  ],
};

const KINDS: ReadonlyMap<string, LaunchFaultKind> = new Map(
  (['shortage', 'quota', 'reservation', 'subnet', 'class', 'transient'] as const).flatMap((kind) =>
    CODES[kind].map((code) => [code, kind] as const),
  ),
);

/** Images, security groups, snapshots and launch templates are the class's own. */
const OF_THE_CLASS = /^Invalid(AMI|Group|SecurityGroup|Snapshot|LaunchTemplate)/;

/**
 * EC2 knows a new instance profile about ten seconds after IAM: until then every line is refused,
 * and some as unfulfillable. https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html
 */
export function isOfNewProfile(code: string, message: string): boolean {
  return code === 'InvalidParameterValue' && /Invalid IAM Instance Profile/i.test(message);
}

/** What a line of a fleet was refused for. */
export function launchFaultKind(code: string, message = ''): LaunchFaultKind {
  if (isOfNewProfile(code, message)) return 'transient';
  return KINDS.get(code) ?? (OF_THE_CLASS.test(code) ? 'class' : 'unknown');
}

/** Of the kinds that say nothing of the class and its nodes: another choice may be had at once. */
const ELSEWHERE: ReadonlySet<LaunchFaultKind> = new Set([
  'shortage',
  'quota',
  'reservation',
  'subnet',
]);

/** Whether another type, zone, subnet or way to buy may be had where this one may not. */
export function mayBeHadElsewhere({
  kind,
  code,
}: {
  readonly kind: LaunchFaultKind;
  readonly code: string;
}): boolean {
  // EC2 does not have the type in that zone, with what the class asks for.
  return ELSEWHERE.has(kind) || code === 'Unsupported';
}

/** Whether nodes of any EC2NodeClass would meet it. */
export function isOfEverybody(kind: LaunchFaultKind): boolean {
  return kind === 'shortage' || kind === 'quota' || kind === 'reservation';
}
