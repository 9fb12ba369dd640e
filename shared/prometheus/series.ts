/** Names and values that tell series of one metric apart. */
export type SeriesLabels = Readonly<Record<string, string>>;

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** A metric with its labels, and values of it, the oldest first. */
export interface Series {
  readonly name: string;
  readonly labels: SeriesLabels;
  readonly samples: readonly Sample[];
}

/** A value of now. */
export interface Level {
  readonly name: string;
  readonly labels: SeriesLabels;
  readonly value: number;
}

/** The same for the same labels in any order; a label without a value is none, as in Prometheus. */
export function seriesKey(name: string, labels: SeriesLabels): string {
  return JSON.stringify([name, ...sortedLabels(labels)]);
}

/** Name and labels of a {@link seriesKey}. */
export function seriesOfKey(key: string): Pick<Series, 'name' | 'labels'> {
  const [name, ...labels]: [string, ...(readonly [string, string])[]] = JSON.parse(key);
  return { name, labels: Object.fromEntries(labels) };
}

/** By name, by UTF-16 units, which for the names of labels are bytes. */
export function sortedLabels(labels: SeriesLabels): readonly (readonly [string, string])[] {
  return Object.entries(labels)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
