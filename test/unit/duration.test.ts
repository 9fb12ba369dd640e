import { describe, expect, it } from 'vitest';
import { parseDurationMs } from '../../shared/core/duration.ts';

describe('a duration', () => {
  it.each([
    ['300ms', 300],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1500us', 2],
    ['1m1m', 120_000],
    ['', undefined],
    ['10', undefined],
    ['-5m', undefined],
    ['1d', undefined],
    ['5m ', undefined],
    ['soon', undefined],
  ])('%s is %s ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });
});
