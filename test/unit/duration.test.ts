import { describe, expect, it } from 'vitest';
import {
  durationText,
  parseDurationMs,
  parseDurationOrDaysMs,
} from '../../shared/core/duration.ts';

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

describe('a duration that may be days', () => {
  it.each([
    ['30d', 2_592_000_000],
    ['4h', 14_400_000],
    ['1d12h', undefined],
    ['0.5d', undefined],
    ['d', undefined],
  ])('%s is %s ms', (text, ms) => {
    expect(parseDurationOrDaysMs(text)).toBe(ms);
  });
});

describe('a duration as text', () => {
  it.each([
    [0, '0s'],
    [300, '300ms'],
    [1500, '1500ms'],
    [3000, '3s'],
    [90_000, '90s'],
    [5_400_000, '90m'],
    [14_400_000, '4h'],
    [86_400_000, '1d'],
    [2_592_000_000, '30d'],
  ])('%d ms are %s, which is read as the same', (ms, text) => {
    expect(durationText(ms)).toBe(text);
    expect(parseDurationOrDaysMs(text)).toBe(ms);
  });
});
