import { describe, expect, it } from 'vitest';
import type { Measurement } from '../../../shared/contract/prometheus.ts';
import type { Series } from '../../../shared/prometheus/series.ts';
import {
  afterWriting,
  BOUNDS_SECONDS,
  NO_TOTALS,
  seriesOf,
  type Totals,
  withLines,
  withMeasurements,
} from '../../../shared/prometheus/totals.ts';
import { decodeTotals, encodeTotals } from '../../../shared/prometheus/totals-file.ts';

const AT_MS = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const CREATED = 'karpenter_nodes_created_total';
const created = (nodepool: string, by = 1): Measurement => [CREATED, { nodepool }, by];
const line = (id: string, ...measurements: readonly Measurement[]) => ({
  id,
  atMs: AT_MS,
  measurements,
});

/** Name and labels with all values. */
function shown(totals: Totals, nowMs = AT_MS): Readonly<Record<string, readonly number[]>> {
  const named = ({ name, labels, samples }: Series) =>
    [
      `${name} ${Object.values(labels).join(' ')}`.trim(),
      samples.map(({ value }) => value),
    ] as const;
  return Object.fromEntries(seriesOf(totals, nowMs).map(named));
}

describe('counters', () => {
  it('add up over lines of all functions, by labels in any order', () => {
    const one: Measurement = [CREATED, { nodepool: 'a', zone: 'z' }, 2];
    const other: Measurement = [CREATED, { zone: 'z', nodepool: 'a' }, 3];
    const totals = withLines(NO_TOTALS, [line('1', one), line('2', other, created('b'))], AT_MS);
    expect(shown(totals)).toEqual({ [`${CREATED} a z`]: [5], [`${CREATED} b`]: [1] });
  });

  it('count a line once that is delivered twice, also after the totals were stored', () => {
    const first = withLines(NO_TOTALS, [line('1', created('a')), line('1', created('a'))], AT_MS);
    const stored = decodeTotals(encodeTotals(first)) ?? NO_TOTALS;
    const again = withLines(stored, [line('1', created('a'))], AT_MS + 15 * MINUTE);
    expect(shown(again)).toEqual({ [`${CREATED} a`]: [1] });
    // By then nobody delivers it any more.
    expect(withLines(again, [], AT_MS + 21 * MINUTE).seen.size).toBe(0);
  });

  it('begin with 0 at the last writing, once, so that their first value is an increase', () => {
    const before = afterWriting(NO_TOTALS, AT_MS - MINUTE, new Set());
    const totals = withLines(before, [line('1', created('a'))], AT_MS);
    expect(seriesOf(totals, AT_MS)[0]?.samples).toEqual([
      { atMs: AT_MS - MINUTE, value: 0 },
      { atMs: AT_MS, value: 1 },
    ]);
    const later = afterWriting(totals, AT_MS, new Set());
    expect(shown(later, AT_MS + MINUTE)).toEqual({ [`${CREATED} a`]: [1] });
  });

  it.each<Measurement>([
    ['process_cpu_seconds_total', {}, 1],
    ['karpenter_Bad', {}, 1],
    [CREATED, {}, Number.NaN],
  ])('leave out %j', (name, labels, value) => {
    expect(shown(withMeasurements(NO_TOTALS, [[name, labels, value]], AT_MS))).toEqual({});
  });

  it('have at most 5,000 series: a label that runs wild adds no more', () => {
    const many = Array.from({ length: 6_000 }, (_, at) => created(`pool-${at}`));
    const totals = withMeasurements(NO_TOTALS, many, AT_MS);
    expect(totals.counters.size).toBe(5_000);
    const more = withMeasurements(totals, [created('pool-1'), created('other')], AT_MS);
    expect(shown(more)[`${CREATED} pool-1`]).toEqual([2]);
    expect(more.counters.size).toBe(5_000);
  });
});

describe('distributions', () => {
  const LIFE = 'karpenter_nodes_lifetime_duration_seconds';

  it('are buckets that contain the smaller ones, with sum and count', () => {
    const values = [0.05, 0.06, 7, 10_000_000].map((value): Measurement => [LIFE, {}, value]);
    const all = shown(withMeasurements(NO_TOTALS, values, AT_MS));
    const buckets = BOUNDS_SECONDS.map((bound) => all[`${LIFE}_bucket ${bound}`]?.[0]);
    expect(buckets).toEqual([0, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]);
    expect(all[`${LIFE}_bucket +Inf`]).toEqual([4]);
    expect(all[`${LIFE}_count`]).toEqual([4]);
    expect(all[`${LIFE}_sum`]?.[0]).toBeCloseTo(10_000_007.11);
  });
});

describe('summaries', () => {
  const ENDING = 'karpenter_nodes_termination_duration_seconds';
  const values = [5, 1, 4, 2, 3].map((value): Measurement => [ENDING, {}, value]);

  it('have quantiles of the last ten minutes, and a sum of all times', () => {
    const totals = withMeasurements(NO_TOTALS, values, AT_MS);
    expect(shown(totals)).toEqual({
      [`${ENDING} 0`]: [1],
      [`${ENDING} 0.5`]: [3],
      [`${ENDING} 0.9`]: [5],
      [`${ENDING} 0.99`]: [5],
      [`${ENDING} 1`]: [5],
      [`${ENDING}_sum`]: [15],
      [`${ENDING}_count`]: [5],
    });
    const later = AT_MS + 10 * MINUTE;
    const rest = { [`${ENDING}_sum`]: [15], [`${ENDING}_count`]: [5] };
    expect(shown(afterWriting(totals, AT_MS, new Set()), later)).toEqual(rest);
    expect(shown(afterWriting(totals, later, new Set()), later)).toEqual(rest);
  });
});

describe('levels', () => {
  const pending = (value: number): Measurement => [
    'karpenter_scheduler_unschedulable_pods_count',
    {},
    value,
  ];

  it('are the last that were measured, whatever the order of the lines', () => {
    const late = { ...line('2', pending(7)), atMs: AT_MS - MINUTE };
    const totals = withLines(NO_TOTALS, [line('1', pending(3)), late], AT_MS);
    expect(shown(totals)).toEqual({ karpenter_scheduler_unschedulable_pods_count: [3] });
  });

  it('are gone after five minutes', () => {
    const totals = withMeasurements(NO_TOTALS, [pending(3)], AT_MS);
    expect(shown(totals, AT_MS + 5 * MINUTE)).toEqual({});
    expect(afterWriting(totals, AT_MS + 5 * MINUTE, new Set()).levels.size).toBe(0);
  });

  it('of NodePools are gauges, though their name ends as a counter’s', () => {
    const cost = (value: number): Measurement => [
      'karpenter_nodepools_cost_total',
      { nodepool: 'a' },
      value,
    ];
    const totals = withMeasurements(NO_TOTALS, [cost(2), cost(1.5)], AT_MS);
    expect(shown(totals)).toEqual({ 'karpenter_nodepools_cost_total a': [1.5] });
  });
});

describe('the file', () => {
  it('has all of it', () => {
    const some = withMeasurements(
      withLines(NO_TOTALS, [line('1', created('__proto__'))], AT_MS),
      [
        ['karpenter_nodes_termination_duration_seconds', {}, 1],
        ['karpenter_nodes_lifetime_duration_seconds', {}, 1],
        ['joiner_held_back', { controller: 'provision' }, 1],
      ],
      AT_MS,
    );
    const totals = afterWriting(some, AT_MS, new Set(['uid-1']));
    expect(decodeTotals(encodeTotals(totals))).toEqual(totals);
    expect(decodeTotals(encodeTotals(NO_TOTALS))).toEqual(NO_TOTALS);
  });

  it.each(['', '{}', '{"version":2}', 'null'])('of another form begins anew: %s', (text) => {
    expect(decodeTotals(new TextEncoder().encode(text))).toBeUndefined();
  });
});
