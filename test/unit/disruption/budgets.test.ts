import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedDisruptions } from '../../../shared/core/disruption/budgets.ts';
import { isWithin } from '../../../shared/core/disruption/schedule.ts';
import type { DisruptionBudget } from '../../../shared/core/model/provisioning.ts';
import { poolOf } from '../../builders/scheduling.ts';

const HOUR = 3_600_000;
/** A Wednesday. */
const NOON = Date.UTC(2026, 6, 15, 12);

function budget(nodes: string, rest: Partial<DisruptionBudget> = {}): DisruptionBudget {
  return { nodes, schedule: undefined, durationMs: undefined, reasons: undefined, ...rest };
}

function allowed(budgets: readonly DisruptionBudget[], total = 10, disrupted = 0): number {
  const disruption = {
    consolidateAfter: 0,
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    budgets,
  } as const;
  const pool = poolOf('general', { disruption });
  return allowedDisruptions(pool, 'Drifted', { total, disrupted }, NOON);
}

describe('allowed disruptions', () => {
  it.each<[string, readonly DisruptionBudget[], number, number, number]>([
    ['no budget: all', [], 10, 0, 10],
    ['10 % of 6, rounded up', [budget('10%')], 6, 0, 1],
    ['10 % of 11, rounded up', [budget('10%')], 11, 0, 2],
    ['less those on their way', [budget('3')], 10, 2, 1],
    ['never below none', [budget('1')], 10, 3, 0],
    ['never above all', [budget('100')], 10, 0, 10],
    ['0 % lets nothing go', [budget('0%')], 10, 0, 0],
    ['the strictest counts', [budget('50%'), budget('2')], 10, 0, 2],
    [
      'those of other reasons do not',
      [budget('0', { reasons: ['Empty', 'Underutilized'] }), budget('4', { reasons: ['Drifted'] })],
      10,
      0,
      4,
    ],
    [
      'one that has begun',
      [budget('0', { schedule: '0 9 * * *', durationMs: 8 * HOUR })],
      10,
      0,
      0,
    ],
    ['one that is over', [budget('0', { schedule: '0 9 * * *', durationMs: 2 * HOUR })], 10, 0, 10],
    ['one that cannot be read', [budget('5', { schedule: 'noon', durationMs: HOUR })], 10, 0, 0],
  ])('%s', (_, budgets, total, disrupted, expected) => {
    expect(allowed(budgets, total, disrupted)).toBe(expected);
  });
});

describe('a schedule', () => {
  it.each<[string, number, boolean | undefined]>([
    ['0 12 * * *', 1, true],
    ['1 12 * * *', 23 * HOUR, false],
    ['@daily', 12 * HOUR, false],
    ['@daily', 12 * HOUR + 1, true],
    ['@hourly', 1, true],
    ['0 0 1 JUL ?', 24 * HOUR, false],
    ['0 0 1 JUL ?', 15 * 24 * HOUR, true],
    ['0 12 * * wed', 1, true],
    ['0 12 * * MON-TUE', HOUR, false],
    ['*/7 11 * * *', 5 * 60_000, true],
    ['*/7 11 * * *', 4 * 60_000, false],
    ['0 12 13 * FRI', HOUR, false],
    ['0 12 15 * FRI', HOUR, true],
    ['0 12 13 * WED', HOUR, true],
    ['60 * * * *', HOUR, undefined],
    ['* * * *', HOUR, undefined],
    ['* * * * * *', HOUR, undefined],
    ['*/0 * * * *', HOUR, undefined],
    ['5-1 * * * *', HOUR, undefined],
    ['@never', HOUR, undefined],
    ['constructor', HOUR, undefined],
  ])('%s within %d ms: %s', (text, durationMs, expected) => {
    expect(isWithin(text, durationMs, NOON)).toBe(expected);
  });

  const field = (least: number, most: number): fc.Arbitrary<string> => {
    const value = fc.integer({ min: least, max: most });
    const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
    const stepped = fc
      .tuple(range, fc.integer({ min: 1, max: Math.min(most, 20) }))
      .map((each) => each.join('/'));
    const list = fc
      .array(fc.oneof(value.map(String), range, stepped), { minLength: 1, maxLength: 3 })
      .map((each) => each.join(','));
    return fc.oneof(fc.constant('*'), list);
  };

  it('is active exactly when another parser has a hit in the time', () => {
    const schedules = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6));
    const minutes = fc.integer({ min: 1, max: 40 * 24 * 60 });
    fc.assert(
      fc.property(schedules, minutes, minutes, (fields, lasting, later) => {
        const nowMs = NOON + later * 60_000 + 30_000;
        const durationMs = lasting * 60_000;
        const cron = new Cron(fields.join(' '), { timezone: 'UTC', paused: true });
        const [last] = cron.previousRuns(1, new Date(nowMs));
        const expected = last !== undefined && last.getTime() > nowMs - durationMs;
        expect(isWithin(fields.join(' '), durationMs, nowMs)).toBe(expected);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
