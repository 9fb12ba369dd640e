import { describe, expect, it } from 'vitest';
import {
  haltedPools,
  haltedUntilMs,
  withFailedLaunch,
  withLaunchWay,
} from '../../../shared/core/launch/halted-pools.ts';

it.each([
  [0, undefined],
  [4, undefined],
  [5, 1],
  [6, 2],
  [7, 4],
  [8, 8],
  [9, 16],
  [10, 30],
  [11, 30],
  [100, 30],
])('%i launches in a row that did not join halt a NodePool for %s minutes', (count, minutes) => {
  const untilMs = minutes === undefined ? undefined : 1000 + minutes * 60_000;
  expect(haltedUntilMs({ count, lastAtMs: 1000 })).toBe(untilMs);
});

it('a NodePool is halted up to that moment, and others are not', () => {
  const failed = new Map([
    ['a', { count: 5, lastAtMs: 0 }],
    ['b', { count: 6, lastAtMs: 0 }],
    ['c', { count: 4, lastAtMs: 0 }],
  ]);
  expect([...haltedPools(failed, 59_999)]).toEqual(['a', 'b']);
  expect([...haltedPools(failed, 60_000)]).toEqual(['b']);
  expect([...haltedPools(failed, 120_000)]).toEqual([]);
});

describe('a change of the NodePool or its class', () => {
  const MINUTE = 60_000;
  const failed = withLaunchWay({ count: 9, lastAtMs: MINUTE }, 'a', MINUTE);
  const changed = withLaunchWay(failed, 'b', 2 * MINUTE);

  it('ends the halt, which what is first seen does not', () => {
    expect(haltedUntilMs(failed)).toBe(17 * MINUTE);
    expect(withLaunchWay(failed, 'a', 2 * MINUTE)).toBe(failed);
    expect(haltedUntilMs(changed)).toBeUndefined();
  });

  it.each([
    ['was launched before it: it tells nothing', 2 * MINUTE - 1000, 9],
    ['was launched after it: it is the first one', 2 * MINUTE, 1],
    ['was launched in its second, as far as the claim says', 2 * MINUTE - 999, 1],
  ])('counts anew: what fails %s', (_, launchedAtMs, count) => {
    const after = withFailedLaunch(changed, { launchedAtMs, tried: [] }, 3 * MINUTE);
    expect(after.count).toBe(count);
    expect(haltedUntilMs(after)).toBeUndefined();
  });

  it('halts again after five that fail', () => {
    let again = changed;
    for (const minute of [4, 5, 6, 7, 8]) {
      const launched = { launchedAtMs: 3 * MINUTE, tried: [] };
      again = withFailedLaunch(again, launched, minute * MINUTE);
    }
    expect(haltedUntilMs(again)).toBe(9 * MINUTE);
  });
});
