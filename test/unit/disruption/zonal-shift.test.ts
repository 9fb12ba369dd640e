import { describe, expect, it } from 'vitest';
import {
  shiftedZones,
  shiftMessage,
  ZONAL_SHIFT,
  ZONES_USABLE,
} from '../../../shared/core/disruption/zonal-shift.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';

const ZONES = [
  { zone: 'us-east-1b', zoneId: 'use1-az2' },
  { zone: 'us-east-1a', zoneId: 'use1-az1' },
];

function poolSaying(message: string, rest: Partial<Condition> = {}) {
  const condition: Condition = {
    type: 'ZonesUsable',
    status: 'False',
    reason: 'ZonalShift',
    message,
    lastTransitionAtMs: 0,
    ...rest,
  };
  return { conditions: [condition] };
}

it('the condition and its reason have names that stay', () => {
  expect([ZONES_USABLE, ZONAL_SHIFT]).toEqual(['ZonesUsable', 'ZonalShift']);
});

it('the message names zones in order', () => {
  const message =
    'ARC shifts this cluster away from us-east-1a (use1-az1), us-east-1b (use1-az2): ' +
    'nothing is launched or disrupted there';
  expect(shiftMessage(ZONES)).toBe(message);
  expect(shiftMessage(ZONES.toReversed())).toBe(message);
});

describe('the zones that are shifted', () => {
  it('are those that the message names, in order, each once', () => {
    const [one] = ZONES;
    const pools = [poolSaying(shiftMessage(ZONES)), poolSaying(shiftMessage(one ? [one] : []))];
    expect(shiftedZones(pools)).toEqual(ZONES.toReversed());
    expect(shiftedZones(pools.toReversed())).toEqual(ZONES.toReversed());
  });

  it.each([
    ['without the condition', { conditions: [] }],
    ['where it is not False', poolSaying(shiftMessage(ZONES), { status: 'True' })],
    ['where another condition says so', poolSaying(shiftMessage(ZONES), { type: 'Ready' })],
    ['where the message is another', poolSaying(`not so: ${shiftMessage(ZONES)}`)],
    ['where the message names none', poolSaying('ARC shifts this cluster away from : nothing')],
    ['beyond the colon', poolSaying('ARC shifts this cluster away from : us-east-1a (use1-az1)')],
  ])('are none %s', (_, pool) => {
    expect(shiftedZones([pool])).toEqual([]);
  });
});
