import { describe, expect, it } from 'vitest';
import {
  FAULTS,
  isOfEverybody,
  isOfNewProfile,
  type LaunchFaultKind,
  launchFaultKind,
  mayBeHadElsewhere,
} from '../../../shared/core/launch/faults.ts';

const MINUTE = 60_000;
const PROFILE =
  'Value (demo) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name';

describe('a fault of a launch', () => {
  it.each<[LaunchFaultKind, string]>([
    [
      'shortage',
      `InsufficientInstanceCapacity InsufficientCapacity InsufficientHostCapacity
       UnfulfillableCapacity`,
    ],
    [
      'quota',
      `VcpuLimitExceeded InstanceLimitExceeded MaxSpotInstanceCountExceeded
       MaxSpotFleetRequestCountExceeded MaxFleetCountExceeded
       AuthFailure.ServiceLinkedRoleCreationNotPermitted`,
    ],
    [
      'reservation',
      'ReservationCapacityExceeded InsufficientCapacityInReservation InvalidCapacityReservationState.Unavailable',
    ],
    ['subnet', 'InsufficientFreeAddressesInSubnet'],
    [
      'class',
      `Unsupported UnsupportedOperation InvalidBlockDeviceMapping InvalidKeyPair.NotFound
       InvalidSubnetID.NotFound InvalidAMIID.NotFound InvalidAMIID.Malformed
       InvalidGroup.NotFound InvalidSecurityGroupID.NotFound InvalidSnapshot.NotFound
       InvalidLaunchTemplateName.NotFoundException`,
    ],
    [
      'transient',
      `InternalError InternalFailure ServerInternal ServiceUnavailable Unavailable
       RequestLimitExceeded RequestThrottled RequestThrottledException EC2ThrottledException
       Throttling ThrottlingException ThrottledException TooManyRequestsException
       PriorRequestNotComplete`,
    ],
    ['unknown', 'NobodyKnows NotInvalidAMIID InvalidParameterValue InvalidInstanceID'],
  ])('is of the kind %s', (kind, codes) => {
    for (const code of codes.split(/\s+/)) expect(launchFaultKind(code), code).toBe(kind);
  });

  it('is of a new instance profile where the message says so', () => {
    expect(launchFaultKind('InvalidParameterValue', PROFILE)).toBe('transient');
    expect(isOfNewProfile('InvalidParameterValue', PROFILE.toLowerCase())).toBe(true);
    expect(isOfNewProfile('InvalidParameterValue', 'another')).toBe(false);
    expect(isOfNewProfile('InvalidAMIID.NotFound', PROFILE)).toBe(false);
  });

  it.each<[LaunchFaultKind, string, { elsewhere: boolean; everybody: boolean }]>([
    ['shortage', 'UnfulfillableCapacity', { elsewhere: true, everybody: true }],
    ['quota', 'VcpuLimitExceeded', { elsewhere: true, everybody: true }],
    ['reservation', 'ReservationCapacityExceeded', { elsewhere: true, everybody: true }],
    ['subnet', 'InsufficientFreeAddressesInSubnet', { elsewhere: true, everybody: false }],
    ['class', 'InvalidAMIID.NotFound', { elsewhere: false, everybody: false }],
    ['class', 'Unsupported', { elsewhere: true, everybody: false }],
    ['transient', 'InternalError', { elsewhere: false, everybody: false }],
    ['unknown', 'NobodyKnows', { elsewhere: false, everybody: false }],
  ])('of the kind %s (%s): %j', (kind, code, { elsewhere, everybody }) => {
    expect(mayBeHadElsewhere({ kind, code })).toBe(elsewhere);
    expect(isOfEverybody(kind)).toBe(everybody);
  });

  it.each([
    ['shortage', 'the offering', 'its expiry; the time doubles after each error'],
    ['quota', 'the offering', 'its expiry, or the end of an instance of Joiner'],
    [
      'reservation',
      'the offering of the reservation',
      'its expiry, or free capacity in the reservation',
    ],
    ['subnet', 'the subnet', 'its expiry'],
    ['class', 'the offering for the EC2NodeClass', 'its expiry, or a change of the EC2NodeClass'],
    ['unknown', 'the fleet override', 'its expiry'],
  ] as const)('of the kind %s bars %s until %s', (kind, bars, ends) => {
    expect(FAULTS[kind]).toMatchObject({ bars, ends });
  });

  it.each(Object.entries(FAULTS))('of the kind %s bars for three minutes first', (kind, rule) => {
    const grows = kind === 'shortage' || kind === 'reservation';
    expect([rule.firstMs, rule.maxMs]).toEqual([3 * MINUTE, (grows ? 360 : 3) * MINUTE]);
  });
});
