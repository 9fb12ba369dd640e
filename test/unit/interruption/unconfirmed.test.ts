import { describe, expect, it } from 'vitest';
import {
  grantUnconfirmed,
  recentUnconfirmed,
  UNCONFIRMED_WINDOW_MS,
  unconfirmedMax,
} from '../../../shared/core/interruption/unconfirmed.ts';
import { notedTimesText } from '../../../shared/core/model/annotations/noted-times.ts';
import { UNCONFIRMED } from '../../../shared/core/model/labels.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const read = (text: string) => [...recentUnconfirmed({ [UNCONFIRMED]: text }, NOW_MS).keys()];

describe('what nothing confirms', () => {
  it('takes at most a fifth of a pool, of the smallest one node', () => {
    expect([0, 1, 5, 6, 10].map(unconfirmedMax)).toEqual([0, 1, 1, 2, 2]);
  });

  it('is granted in the order of asking, and once', () => {
    const before = new Map([['a', NOW_MS - 1]]);
    const { granted, noted } = grantUnconfirmed(before, 10, ['c', 'a', 'b'], NOW_MS);
    expect([...granted]).toEqual(['c', 'a']);
    expect([...noted]).toEqual([
      ['a', NOW_MS - 1],
      ['c', NOW_MS],
    ]);
    expect(grantUnconfirmed(noted, 10, ['b'], NOW_MS).granted.size).toBe(0);
  });

  it('is remembered for ten minutes', () => {
    const ages = { old: UNCONFIRMED_WINDOW_MS, recent: UNCONFIRMED_WINDOW_MS - 1, ahead: -5000 };
    const noted = Object.entries(ages).map(([claim, ms]) => [claim, NOW_MS - ms] as const);
    expect(read(notedTimesText(new Map(noted)))).toEqual(['ahead', 'recent']);
  });

  it.each([
    ['{'],
    ['null'],
    ['"x"'],
    ['{"a":1}'],
    ['{"a":"soon"}'],
    ['{"a":"9999-01-01T00:00:00Z"}'],
  ])('is not remembered by %s', (text) => {
    expect(read(text)).toEqual([]);
  });
});
