import { describe, expect, it } from 'vitest';
import { isKarpenterActive, isPaused } from '../../../shared/app/settings.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

describe('a pause', () => {
  it.each<[string, number | undefined, boolean]>([
    ['is off where nobody paused', undefined, false],
    ['is on until its time', NOW + 1, true],
    ['is off from its time on', NOW, false],
    ['is off after its time', NOW - 1, false],
    ['has no end where it is only on', Number.POSITIVE_INFINITY, true],
  ])('%s', (_, untilMs, expected) => {
    expect(isPaused(untilMs, NOW)).toBe(expected);
  });
});

describe('Karpenter', () => {
  it.each<[string, number | undefined, boolean]>([
    ['is not active where it has no lease', undefined, false],
    ['is active as it renews its lease', NOW, true],
    ['is active for a minute after that', NOW - 59_999, true],
    ['is not active a minute after that', NOW - 60_000, false],
    ['is active where its clock is ahead', NOW + 5_000, true],
  ])('%s', (_, renewedAtMs, expected) => {
    expect(isKarpenterActive(renewedAtMs, NOW)).toBe(expected);
  });
});
