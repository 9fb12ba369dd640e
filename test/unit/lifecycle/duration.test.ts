import { describe, expect, it } from 'vitest';
import { parseDurationMs } from '../../../shared/core/duration.ts';
import { isProtected } from '../../../shared/core/lifecycle/drain.ts';
import { aPod } from '../launch/builders.ts';

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

describe('karpenter.sh/do-not-disrupt', () => {
  it.each([
    ['true', 1e12, true],
    ['1.5h', 5_399_999, true],
    ['1.5h', 5_400_000, false],
    ['1h30m', 5_399_999, true],
    ['false', 0, false],
    ['1 day', 0, false],
  ])('%s protects a pod at %d ms: %s', (value, nowMs, expected) => {
    const annotations = { 'karpenter.sh/do-not-disrupt': value };
    expect(isProtected(aPod({ annotations }), nowMs)).toBe(expected);
  });
});
