import { expect, it } from 'vitest';
import { shiftMessage } from '../../../shared/core/disruption/zonal-shift.ts';
import { expiryHold, isExpired } from '../../../shared/core/lifecycle/expiry.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';
import { NODE_POOL, ZONE } from '../../../shared/core/model/labels.ts';
import { claimOf, poolOf } from '../../builders/scheduling.ts';

/** A Monday. */
const NOW = Date.parse('2026-01-05T09:00:00Z');

it.each<[number | 'Never', number, boolean]>([
  ['Never', 0, false],
  [1000, NOW - 999, false],
  [1000, NOW - 1000, true],
])('a claim with expireAfter %s of %i', (expireAfter, createdAtMs, isIt) => {
  expect(isExpired(claimOf('a', { expireAfter, createdAtMs }), NOW)).toBe(isIt);
});

const away: Condition = {
  type: 'ZonesUsable',
  status: 'False',
  reason: 'ZonalShift',
  message: shiftMessage([{ zone: 'us-east-1a', zoneId: 'use1-az1' }]),
  lastTransitionAtMs: 0,
};
const paused = poolOf('web', {
  annotations: { 'joiner.dev/pause': 'disrupt from 0 8 * * 1-5 for 10h' },
});

it.each<[string, string, string, boolean]>([
  ['of a pool that pauses now', 'web', 'us-east-1b', true],
  ['of a pool that does not', 'other', 'us-east-1b', false],
  ['in a zone that is shifted away', 'other', 'us-east-1a', true],
])('whether a claim %s stays', (_, pool, zone, isHeld) => {
  const pools = [paused, poolOf('other', { conditions: [away] })];
  const claim = claimOf('a', { labels: { [NODE_POOL]: pool, [ZONE]: zone } });
  expect(expiryHold(pools, NOW)(claim)).toBe(isHeld);
});
