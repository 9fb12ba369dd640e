import { describe, expect, it } from 'vitest';
import { hasRoomAgain } from '../../../shared/core/launch/bars.ts';
import { FAULTS, launchFaultKind } from '../../../shared/core/launch/faults.ts';

const MINUTE = 60_000;
const PROFILE =
  'Value (demo) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name';

describe('a fault of a launch', () => {
  it.each([
    ['InsufficientInstanceCapacity', '', 'shortage'],
    ['UnfulfillableCapacity', '', 'shortage'],
    ['VcpuLimitExceeded', '', 'quota'],
    ['MaxSpotInstanceCountExceeded', '', 'quota'],
    ['MaxFleetCountExceeded', '', 'quota'],
    ['ReservationCapacityExceeded', '', 'reservation'],
    ['InsufficientFreeAddressesInSubnet', '', 'subnet'],
    ['Unsupported', '', 'class'],
    ['InvalidAMIID.NotFound', '', 'class'],
    ['InvalidSnapshot.NotFound', '', 'class'],
    ['InternalError', '', 'transient'],
    ['RequestLimitExceeded', '', 'transient'],
    ['InvalidParameterValue', PROFILE, 'transient'],
    ['InvalidParameterValue', 'another', 'unknown'],
    ['NobodyKnows', '', 'unknown'],
  ])('%s %s is of the kind %s', (code, message, kind) => {
    expect(launchFaultKind(code, message)).toBe(kind);
  });

  it.each(Object.entries(FAULTS))('of the kind %s bars for three minutes first', (kind, rule) => {
    const grows = kind === 'shortage' || kind === 'reservation';
    expect([rule.firstMs, rule.maxMs]).toEqual([3 * MINUTE, (grows ? 360 : 3) * MINUTE]);
  });

  it.each([
    ['that has just been refused', 'reservation', 1, 59_999, false],
    ['that is full', 'reservation', 0, MINUTE, false],
    ['that has room', 'reservation', 1, MINUTE, true],
    ['which is barred for a shortage', 'shortage', 1, MINUTE, false],
  ] as const)('of a reservation %s', (_, kind, capacity, nowMs, expected) => {
    expect(hasRoomAgain({ kind, markedAtMs: 0 }, capacity, nowMs)).toBe(expected);
  });
});
