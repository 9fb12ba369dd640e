import { describe, expect, it } from 'vitest';
import { savingsLastMs } from '../../../../shared/core/disruption/consolidation/savings-last.ts';
import { NODE_POOL, REPLACES } from '../../../../shared/core/model/labels.ts';
import { claimOf } from '../../../builders/scheduling.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = 100 * HOUR;

const claim = (minutesAgo: number, pool = 'general', annotations = {}) =>
  claimOf(`${pool}-${minutesAgo}`, {
    labels: { [NODE_POOL]: pool },
    annotations,
    createdAtMs: NOW - minutesAgo * MINUTE,
  });

const lasting = (...claims: ReturnType<typeof claim>[]) =>
  savingsLastMs(claims, 'general', NOW, 4 * HOUR);

describe('how long savings of a pool last', () => {
  it('is not known where nothing was launched for pods within the horizon', () => {
    expect(lasting()).toBeUndefined();
    expect(lasting(claim(241), claim(600))).toBeUndefined();
    expect(lasting(claim(10, 'other'))).toBeUndefined();
    expect(lasting(claim(10, 'general', { [REPLACES]: 'uid' }))).toBeUndefined();
  });

  it('is what launches had between them', () => {
    expect(lasting(claim(10))).toBe(4 * HOUR);
    expect(lasting(claim(10), claim(200))).toBe(2 * HOUR);
    expect(lasting(claim(200), claim(10), claim(100), claim(50))).toBe(HOUR);
  });

  it('counts NodeClaims that were created together once', () => {
    expect(lasting(claim(10), claim(10.5), claim(11), claim(120))).toBe(2 * HOUR);
  });

  it('counts launches that followed one another for fewer when they are over', () => {
    const growth = (from: number, count: number, every: number) =>
      Array.from({ length: count }, (_, at) => claim(from - at * every));
    // Nine launches, one every two minutes, the last of them 10 or 11 minutes ago.
    expect(lasting(...growth(26, 9, 2))).toBe((4 * HOUR) / 9);
    expect(lasting(...growth(27, 9, 2))).toBe((4 * HOUR) / 3);
    expect(lasting(...growth(225, 9, 2), ...growth(60, 4, 4))).toBe((4 * HOUR) / 5);
    expect(lasting(...growth(225, 9, 2), claim(2))).toBe(HOUR);
    expect(lasting(...growth(225, 9, 2), ...growth(18, 5, 4))).toBe((4 * HOUR) / 8);
  });

  it('counts launches that are over for fewer the longer nothing has come since', () => {
    // Nine launches, one every two minutes, are over 26 minutes after the first of them.
    const silentFor = (minutes: number) =>
      lasting(...Array.from({ length: 9 }, (_, at) => claim(minutes + 16 - at * 2)));
    expect(silentFor(11)).toBe((4 * HOUR) / 3);
    expect(silentFor(51)).toBe((4 * HOUR) / 3);
    expect(silentFor(52)).toBe((4 * HOUR) / 2);
    expect(silentFor(103)).toBe((4 * HOUR) / 2);
    expect(silentFor(104)).toBe((4 * HOUR) / 1.5);
    expect(silentFor(208)).toBe((4 * HOUR) / 1.25);
  });

  it.each([0.5, 0.98, 1.02])(
    'is a few minutes where one follows another by %d minutes',
    (every) => {
      const steady = Array.from({ length: 230 }, (_, at) => claim(at * every));
      const lastMs = lasting(...steady) ?? Number.POSITIVE_INFINITY;
      expect(lastMs).toBeGreaterThanOrEqual(MINUTE);
      expect(lastMs).toBeLessThan(5 * MINUTE);
    },
  );
});
