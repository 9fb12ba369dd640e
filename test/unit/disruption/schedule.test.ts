import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { intervalsOf, isWithin } from '../../../shared/core/disruption/schedule.ts';

const HOUR = 3_600_000;
/** A Wednesday. */
const NOON = Date.UTC(2026, 6, 15, 12);

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
    ['@yearly', 195 * 24 * HOUR, false],
    ['@yearly', 196 * 24 * HOUR, true],
    ['@annually', 195 * 24 * HOUR, false],
    ['@annually', 196 * 24 * HOUR, true],
    ['@monthly', 14 * 24 * HOUR, false],
    ['@monthly', 15 * 24 * HOUR, true],
    ['@weekly', 3 * 24 * HOUR + 12 * HOUR, false],
    ['@weekly', 3 * 24 * HOUR + 12 * HOUR + 1, true],
    ['@midnight', 12 * HOUR, false],
    ['@midnight', 12 * HOUR + 1, true],
    [' @daily ', 12 * HOUR + 1, true],
    ['  0   12 *\t* *  ', 1, true],
    ['0 12 * jul *', 1, true],
    ['0 12 * AUG *', HOUR, false],
    ['0 12 * 7-8 *', 1, true],
    ['0 12 ? * WED', 1, true],
    ['0 12 15 * ?', 1, true],
    ['0 12 */2 * WED', 1, true],
    ['0 12 */2 * FRI', 1, true],
    ['0 12 */1 * WED', 1, true],
    ['0 12 */1 * FRI', HOUR, false],
    ['0 12 15 * */1', 1, true],
    ['0 12 14 * */1', HOUR, false],
    ['0 12 * * SUN', HOUR, false],
    ['0 12 * * SUN-WED', 1, true],
    ['0 12 * JAN-JUL *', 1, true],
    ['0 12 15,? * FRI', HOUR, false],
    ['5/20 11 * * *', 15 * 60_000, false],
    ['5/20 11 * * *', 15 * 60_000 + 1, true],
    ['5-40/20 11 * * *', 35 * 60_000, false],
    ['5-40/20 11 * * *', 35 * 60_000 + 1, true],
    ['0 6-18/6 * * *', 1, true],
    ['0 12 31 * *', HOUR, false],
    ['0 24 * * *', HOUR, undefined],
    ['0 0 0 * *', HOUR, undefined],
    ['0 0 32 * *', HOUR, undefined],
    ['0 0 1 0 *', HOUR, undefined],
    ['0 0 1 13 *', HOUR, undefined],
    ['0 0 * * 7', HOUR, undefined],
    ['0 0 * WED *', HOUR, undefined],
    ['-1 * * * *', HOUR, undefined],
    ['1-2-3 * * * *', HOUR, undefined],
    ['*/5/5 * * * *', HOUR, undefined],
    ['*/x * * * *', HOUR, undefined],
    ['*/x5 * * * *', HOUR, undefined],
    ['*/1000 * * * *', HOUR, undefined],
    ['*/999 12 * * *', 1, true],
    ['1,x * * * *', HOUR, undefined],
    ['1, * * * *', HOUR, undefined],
    ['001 * * * *', HOUR, undefined],
    ['1- * * * *', HOUR, undefined],
    ['x * * * *', HOUR, undefined],
    ['* x * * *', HOUR, undefined],
    ['* * x * *', HOUR, undefined],
    ['* * * x *', HOUR, undefined],
    ['* * * * x', HOUR, undefined],
    ['', HOUR, undefined],
  ])('%s within %d ms: %s', (text, durationMs, expected) => {
    expect(isWithin(text, durationMs, NOON)).toBe(expected);
  });

  const MILLENNIA = 999_999_999 * HOUR;

  it.each([
    ['0 0 31 2 *', MILLENNIA, false],
    ['0 0 30,31 FEB ?', MILLENNIA, false],
    ['0 0 31 4,6,9,11 *', MILLENNIA, false],
    ['0 0 31 2 *', Number.POSITIVE_INFINITY, false],
    ['0 0 30 2 MON', MILLENNIA, true],
    ['0 0 29 2 *', MILLENNIA, true],
    ['0 0 29 2 *', 4 * 366 * 24 * HOUR, true],
    ['* * * * *', MILLENNIA, true],
  ])('%s within %d ms takes few steps: %s', (text, durationMs, expected) => {
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

describe('the intervals of a schedule', () => {
  const DAY = 24 * HOUR;
  const MIDNIGHT = NOON - 12 * HOUR;
  /** In hours since the Wednesday began. */
  const hours = (text: string, durationMs: number, from: number, to: number) =>
    intervalsOf(text, durationMs, {
      fromMs: MIDNIGHT + from * HOUR,
      toMs: MIDNIGHT + to * HOUR,
    })?.map(({ fromMs, toMs }) => [(fromMs - MIDNIGHT) / HOUR, (toMs - MIDNIGHT) / HOUR]);

  it.each<[string, number, number, number, readonly (readonly number[])[] | undefined]>([
    [
      '0 9 * * *',
      2 * HOUR,
      0,
      48,
      [
        [9, 11],
        [33, 35],
      ],
    ],
    [
      '0 9 * * *',
      2 * HOUR,
      10,
      34,
      [
        [10, 11],
        [33, 34],
      ],
    ],
    ['0 9 * * *', 2 * HOUR, 11, 33, []],
    ['0 9 * * *', DAY, 0, 48, [[0, 48]]],
    ['0 9 * * *', 3 * DAY, 0, 10, [[0, 10]]],
    [
      '0 21,9 * * *',
      2 * HOUR,
      0,
      24,
      [
        [9, 11],
        [21, 23],
      ],
    ],
    ['0 9,10 * * *', 90 * 60_000, 0, 24, [[9, 11.5]]],
    ['0 9,10 * * *', HOUR, 0, 24, [[9, 11]]],
    ['0 9 * * *', 0, 0, 24, []],
    ['0 22 * * TUE', 4 * HOUR, 0, 24, [[0, 2]]],
    ['0 0 * * THU', HOUR, 0, 24, []],
    ['0 9 * * *', 999_999_999 * HOUR, 0, 24, [[0, 24]]],
    ['* * * * *', 999_999_999 * HOUR, 0, 24, [[0, 24]]],
    ['0 0 29 2 *', 999_999_999 * HOUR, 0, 24, [[0, 24]]],
    ['0 0 31 2 *', 999_999_999 * HOUR, 0, 24, []],
    ['@never', HOUR, 0, 24, undefined],
  ])('%s for %d ms from %d to %d h', (text, durationMs, from, to, expected) => {
    expect(hours(text, durationMs, from, to)).toEqual(expected);
  });

  it('are those in which it is active', () => {
    const text = '20 */5 13-16 * *';
    const span = { fromMs: NOON - DAY, toMs: NOON + 3 * DAY };
    const found = intervalsOf(text, 3 * HOUR, span) ?? [];
    for (let atMs = span.fromMs; atMs < span.toMs; atMs += 10 * 60_000) {
      const isIn = found.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
      expect(isWithin(text, 3 * HOUR, atMs), new Date(atMs).toISOString()).toBe(isIn);
    }
  });
});
