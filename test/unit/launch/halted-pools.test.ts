import { expect, it } from 'vitest';
import { haltedPools, haltedUntilMs } from '../../../shared/core/launch/halted-pools.ts';

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
