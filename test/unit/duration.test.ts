import { describe, expect, it } from 'vitest';
import {
  age,
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

describe('an age', () => {
  it.each([
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [125, '2m5s'],
    [599, '9m59s'],
    [600, '10m'],
    [659, '10m'],
    [10_799, '179m'],
    [12_000, '3h20m'],
    [28_800, '8h'],
    [90_000, '25h'],
    [172_800, '2d'],
    [180_000, '2d2h'],
    [31 * 86_400 + 7200, '31d'],
  ])('of %s s is %s', (seconds, text) => {
    expect(age(seconds)).toBe(text);
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
