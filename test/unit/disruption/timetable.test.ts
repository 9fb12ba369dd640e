import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedDisruptions } from '../../../shared/core/disruption/budgets.ts';
import { budgetWindows, REASONS } from '../../../shared/core/disruption/timetable.ts';
import type { DisruptionBudget } from '../../../shared/core/model/provisioning.ts';
import { poolOf } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Wednesday. */
const MIDNIGHT = Date.UTC(2026, 6, 15);

function budget(nodes: string, rest: Partial<DisruptionBudget> = {}): DisruptionBudget {
  return { nodes, schedule: undefined, durationMs: undefined, reasons: undefined, ...rest };
}

function pool(...budgets: readonly DisruptionBudget[]) {
  const rules = { consolidateAfter: 0, consolidationPolicy: 'WhenEmpty' } as const;
  return poolOf('general', { disruption: { ...rules, budgets } });
}

function said(budgets: readonly DisruptionBudget[], days = 1, total = 10): readonly string[] {
  const range = { fromMs: MIDNIGHT, toMs: MIDNIGHT + days * DAY };
  return budgetWindows(pool(...budgets), total, range).map(({ fromMs, toMs, allowed }) => {
    const at = (ms: number): string => new Date(ms).toISOString().slice(8, 16);
    const reasons = REASONS.filter((reason) => reason !== 'Fallback');
    return `${at(fromMs)} ${at(toMs)} ${reasons.map((reason) => allowed[reason]).join('/')}`;
  });
}

describe('a timetable of budgets', () => {
  const office = budget('0', { schedule: '0 9 * * mon-fri', durationMs: 8 * HOUR });

  it.each<[string, readonly DisruptionBudget[], readonly string[]]>([
    ['without budgets', [], ['15T00:00 16T00:00 10/10/10/10']],
    ['of one that always holds', [budget('10%')], ['15T00:00 16T00:00 1/1/1/10']],
    [
      'closed in office hours',
      [budget('30%'), office],
      ['15T00:00 15T09:00 3/3/3/10', '15T09:00 15T17:00 0/0/0/10', '15T17:00 16T00:00 3/3/3/10'],
    ],
    [
      'for one reason',
      [budget('2'), { ...office, reasons: ['Drifted'] }],
      ['15T00:00 15T09:00 2/2/2/10', '15T09:00 15T17:00 0/2/2/10', '15T17:00 16T00:00 2/2/2/10'],
    ],
    [
      'for repairs',
      [budget('2'), { ...office, reasons: ['Unhealthy'] }],
      ['15T00:00 15T09:00 2/2/2/10', '15T09:00 15T17:00 2/2/2/0', '15T17:00 16T00:00 2/2/2/10'],
    ],
    [
      'that began the day before',
      [budget('0', { schedule: '0 22 * * *', durationMs: 4 * HOUR })],
      ['15T00:00 15T02:00 0/0/0/10', '15T02:00 15T22:00 10/10/10/10', '15T22:00 16T00:00 0/0/0/10'],
    ],
    [
      'in one window while the strictest stays',
      [budget('2'), { ...office, nodes: '5' }],
      ['15T00:00 16T00:00 2/2/2/10'],
    ],
    [
      'that never ends',
      [budget('1', { schedule: '@hourly', durationMs: HOUR })],
      ['15T00:00 16T00:00 1/1/1/10'],
    ],
    ['that cannot be read', [budget('5', { schedule: 'soon' })], ['15T00:00 16T00:00 0/0/0/10']],
  ])('%s', (_, budgets, expected) => {
    expect(said(budgets)).toEqual(expected);
  });

  it('of fallbacks, where the NodePool asks for their return', () => {
    const annotations = { 'joiner.dev/return-to-first-choice': 'nodes=3' };
    const range = { fromMs: MIDNIGHT, toMs: MIDNIGHT + DAY };
    const allowed = (own: ReturnType<typeof pool>) =>
      budgetWindows(own, 10, range).map((window) => window.allowed.Fallback);
    expect(allowed({ ...pool(office), annotations })).toEqual([3, 0, 3]);
    expect(allowed(pool(office))).toEqual([0, 0, 0]);
  });

  it('says at each moment what is allowed then', () => {
    const schedule = fc.constantFrom('@daily', '15 3 * * *', '*/7 8-11 * * sat', '0 0 1,15 * 2');
    const scheduled = fc.record({
      nodes: fc.constantFrom('0', '2', '40%'),
      schedule: fc.option(schedule, { nil: undefined }),
      durationMs: fc.integer({ min: 1, max: 30 * 60 }).map((minutes) => minutes * MINUTE),
      reasons: fc.option(fc.subarray([...REASONS], { minLength: 1 }), { nil: undefined }),
    });
    const moments = fc.array(fc.integer({ min: 0, max: 9 * 24 * 60 - 1 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(scheduled, { maxLength: 4 }), moments, (budgets, minutes) => {
        const range = { fromMs: MIDNIGHT, toMs: MIDNIGHT + 9 * DAY };
        const windows = budgetWindows(pool(...budgets), 12, range);
        expect(windows[0]?.fromMs).toBe(range.fromMs);
        expect(windows.at(-1)?.toMs).toBe(range.toMs);
        for (const minute of minutes) {
          const nowMs = MIDNIGHT + minute * MINUTE;
          const at = windows.find(({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs);
          for (const reason of REASONS) {
            const nodes = { total: 12, disrupted: 0 };
            const expected = allowedDisruptions(pool(...budgets), reason, nodes, nowMs);
            expect(at?.allowed[reason]).toBe(expected);
          }
        }
      }),
    );
  });
});
