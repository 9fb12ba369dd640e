import { type Measurement, seriesKind } from '../contract/prometheus.ts';
import type { MeasuredLine } from './log-lines.ts';
import { type Level, type Series, type SeriesLabels, seriesKey, seriesOfKey } from './series.ts';

/** Values of a histogram; `counts` are of {@link BOUNDS_SECONDS}, each alone, the last above all. */
interface Distribution {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Values of a summary; the latest are kept, of which quantiles are taken. */
interface Recent {
  readonly count: number;
  readonly sum: number;
  readonly latest: readonly (readonly [atMs: number, value: number])[];
}

/**
 * All that was measured since the stack was made, by {@link seriesKey}. One object in the bucket,
 * so that counters do not begin anew with each sandbox, and one function writes them, so that no
 * two writers have the same series.
 */
export interface Totals {
  /** Ids of lines that were counted, with their times: a line may be delivered twice. */
  readonly seen: ReadonlyMap<string, number>;
  readonly counters: ReadonlyMap<string, number>;
  readonly distributions: ReadonlyMap<string, Distribution>;
  readonly recents: ReadonlyMap<string, Recent>;
  readonly levels: ReadonlyMap<string, { readonly atMs: number; readonly value: number }>;
  /** Series that have not been written yet. */
  readonly fresh: ReadonlySet<string>;
  /** Pods that were not ready when series were written last. */
  readonly startingPods: ReadonlySet<string>;
  /** When series were written last; undefined: never. */
  readonly writtenAtMs: number | undefined;
}

export const NO_TOTALS: Totals = {
  seen: new Map(),
  counters: new Map(),
  distributions: new Map(),
  recents: new Map(),
  levels: new Map(),
  fresh: new Set(),
  startingPods: new Set(),
  writtenAtMs: undefined,
};

/**
 * In seconds: from an answer of AWS to the longest that a node may take to go. Of an empty first
 * bucket the quantile 0 is NaN unless its bound is 0, and Karpenter's dashboards ask for it.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile
 */
export const BOUNDS_SECONDS = [
  0, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 86_400, 604_800,
] as const;

const QUANTILES = [0, 0.5, 0.9, 0.99, 1] as const;
/** As long as Karpenter's summaries look back. */
const RECENT_MS = 10 * 60_000;
const RECENT_VALUES_MAX = 1_000;
/** Lambda tries a delivery again for at most 15 minutes. */
const SEEN_MS = 20 * 60_000;
/** A level that nobody has measured for so long is not one any more. */
const LEVEL_MS = 5 * 60_000;
/** Of all kinds together: what is new beyond that is left out, since a label has run wild. */
const SERIES_MAX = 5_000;

/** Copies that are changed while lines are added. */
type Draft = {
  readonly [Key in
    | 'counters'
    | 'distributions'
    | 'recents'
    | 'levels']: Totals[Key] extends ReadonlyMap<string, infer Value> ? Map<string, Value> : never;
} & { readonly fresh: Set<string> };

function draftOf(totals: Totals): Draft {
  return {
    counters: new Map(totals.counters),
    distributions: new Map(totals.distributions),
    recents: new Map(totals.recents),
    levels: new Map(totals.levels),
    fresh: new Set(totals.fresh),
  };
}

/** Adds lines, each once, however often it comes. */
export function withLines(totals: Totals, lines: readonly MeasuredLine[], nowMs: number): Totals {
  const seen = new Map([...totals.seen].filter(([, atMs]) => nowMs - atMs < SEEN_MS));
  const draft = draftOf(totals);
  for (const { id, atMs, measurements } of lines) {
    if (seen.has(id)) continue;
    // By when it came: a line that is late is still told from its own repetition.
    seen.set(id, nowMs);
    for (const each of measurements) add(draft, each, atMs);
  }
  return { ...totals, ...draft, seen };
}

/** Adds what was measured here, now. */
export function withMeasurements(
  totals: Totals,
  measurements: readonly Measurement[],
  nowMs: number,
): Totals {
  const draft = draftOf(totals);
  for (const each of measurements) add(draft, each, nowMs);
  return { ...totals, ...draft };
}

function add(draft: Draft, [name, labels, value]: Measurement, atMs: number): void {
  const kind = seriesKind(name);
  if (kind === undefined || !Number.isFinite(value)) return;
  const key = seriesKey(name, labels);
  const { counters, distributions, recents, levels, fresh } = draft;
  const place = { counter: counters, histogram: distributions, summary: recents, gauge: levels }[
    kind
  ];
  if (!place.has(key)) {
    if (counters.size + distributions.size + recents.size + levels.size >= SERIES_MAX) return;
    fresh.add(key);
  }
  if (kind === 'counter') counters.set(key, (counters.get(key) ?? 0) + Math.max(0, value));
  else if (kind === 'histogram') distributions.set(key, distributed(distributions.get(key), value));
  else if (kind === 'summary') recents.set(key, remembered(recents.get(key), value, atMs));
  else if ((levels.get(key)?.atMs ?? 0) <= atMs) levels.set(key, { atMs, value });
}

function distributed(before: Distribution | undefined, value: number): Distribution {
  const counts = [
    ...(before?.counts ?? Array.from({ length: BOUNDS_SECONDS.length + 1 }, () => 0)),
  ];
  const at = BOUNDS_SECONDS.findIndex((bound) => value <= bound);
  const bucket = at === -1 ? BOUNDS_SECONDS.length : at;
  counts[bucket] = (counts[bucket] ?? 0) + 1;
  return { counts, sum: (before?.sum ?? 0) + value };
}

function remembered(before: Recent | undefined, value: number, atMs: number): Recent {
  const latest = [...(before?.latest ?? []), [atMs, value] as const].slice(-RECENT_VALUES_MAX);
  return { count: (before?.count ?? 0) + 1, sum: (before?.sum ?? 0) + value, latest };
}

/** The state after series were written at that time: what is too old is forgotten. */
export function afterWriting(
  totals: Totals,
  nowMs: number,
  startingPods: ReadonlySet<string>,
): Totals {
  const recents = [...totals.recents].map(([key, recent]) => {
    const latest = recent.latest.filter(([atMs]) => nowMs - atMs < RECENT_MS);
    return [key, { ...recent, latest }] as const;
  });
  return {
    ...totals,
    recents: new Map(recents),
    levels: new Map([...totals.levels].filter(([, { atMs }]) => nowMs - atMs < LEVEL_MS)),
    fresh: new Set(),
    startingPods,
    writtenAtMs: nowMs,
  };
}

/**
 * All series as of now. A counter that is new has been 0 when series were written last, and is
 * written so: an increase from nothing is no increase for Prometheus.
 */
export function seriesOf(totals: Totals, nowMs: number): readonly Series[] {
  return [
    ...[...totals.counters].map(([key, value]) => {
      const { name, labels } = seriesOfKey(key);
      return counted(totals, key, { name, labels, value }, nowMs);
    }),
    ...[...totals.distributions].flatMap(([key, { counts, sum }]) => {
      const { name, labels } = seriesOfKey(key);
      return histogramLevels(name, labels, counts, sum).map((level) =>
        counted(totals, key, level, nowMs),
      );
    }),
    ...[...totals.recents].flatMap(([key, recent]) => {
      const { name, labels } = seriesOfKey(key);
      const total = { name: `${name}_sum`, labels, value: recent.sum };
      const count = { name: `${name}_count`, labels, value: recent.count };
      return [
        ...quantileLevels(name, labels, recent, nowMs).map((level) => current(level, nowMs)),
        ...[total, count].map((level) => counted(totals, key, level, nowMs)),
      ];
    }),
    ...[...totals.levels]
      .filter(([, { atMs }]) => nowMs - atMs < LEVEL_MS)
      .map(([key, { value }]) => current({ ...seriesOfKey(key), value }, nowMs)),
  ];
}

/** The series of one value. */
export function current({ name, labels, value }: Level, nowMs: number): Series {
  return { name, labels, samples: [{ atMs: nowMs, value }] };
}

function counted(totals: Totals, key: string, level: Level, nowMs: number): Series {
  const { writtenAtMs } = totals;
  const series = current(level, nowMs);
  if (!totals.fresh.has(key) || writtenAtMs === undefined || writtenAtMs >= nowMs) return series;
  return { ...series, samples: [{ atMs: writtenAtMs, value: 0 }, ...series.samples] };
}

function histogramLevels(
  name: string,
  labels: SeriesLabels,
  counts: readonly number[],
  sum: number,
): readonly Level[] {
  const bounds = [...BOUNDS_SECONDS.map(String), '+Inf'];
  let count = 0;
  const buckets = bounds.map((le, at) => {
    count += counts[at] ?? 0;
    return { name: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  const total = { name: `${name}_sum`, labels, value: sum };
  return [...buckets, total, { name: `${name}_count`, labels, value: count }];
}

/** Of the latest values; none where there are none. */
function quantileLevels(
  name: string,
  labels: SeriesLabels,
  { latest }: Recent,
  nowMs: number,
): readonly Level[] {
  const values = latest
    .filter(([atMs]) => nowMs - atMs < RECENT_MS)
    .map(([, value]) => value)
    .toSorted((a, b) => a - b);
  if (values.length === 0) return [];
  return QUANTILES.map((quantile) => {
    const at = Math.max(0, Math.ceil(quantile * values.length) - 1);
    return { name, labels: { ...labels, quantile: String(quantile) }, value: values[at] ?? 0 };
  });
}
