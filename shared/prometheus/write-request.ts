import { PbfWriter } from 'pbf';
import { compress } from 'snappyjs';
import { type Sample, type Series, type SeriesLabels, sortedLabels } from './series.ts';

/**
 * The value by which a series ends: from then on it is not there, instead of having its last value
 * for five minutes more. It is a NaN by its bits, which a number of JavaScript does not keep.
 */
export const STALE = Symbol('stale');

/** A series with a value, or with its end. */
export interface WrittenSeries extends Omit<Series, 'samples'> {
  readonly samples: readonly (Sample | { readonly atMs: number; readonly value: typeof STALE })[];
}

const NAME_LABEL = '__name__';
/** 0x7ff0000000000002, the lower half first. */
const STALE_BITS = [2, 0x7ff00000] as const;
/** Wire type of eight bytes: https://protobuf.dev/programming-guides/encoding/ */
const FIXED64 = 1;

/**
 * A WriteRequest of remote write 1.0, compressed as its body has to be.
 * https://prometheus.io/docs/specs/prw/remote_write_spec/
 */
export function writeRequest(series: readonly WrittenSeries[]): Uint8Array {
  const pbf = new PbfWriter();
  for (const each of series) pbf.writeMessage(1, writeSeries, each);
  return compress(pbf.finish());
}

function writeSeries({ name, labels, samples }: WrittenSeries, pbf: PbfWriter): void {
  for (const label of labelsOf(name, labels)) pbf.writeMessage(1, writeLabel, label);
  for (const sample of samples) pbf.writeMessage(2, writeSample, sample);
}

/** Labels are sorted by their names, of which the metric's is one. */
function labelsOf(name: string, labels: SeriesLabels): readonly (readonly [string, string])[] {
  return sortedLabels({ ...labels, [NAME_LABEL]: name });
}

function writeLabel([name, value]: readonly [string, string], pbf: PbfWriter): void {
  pbf.writeStringField(1, name);
  pbf.writeStringField(2, value);
}

function writeSample({ value, atMs }: WrittenSeries['samples'][number], pbf: PbfWriter): void {
  if (value === STALE) {
    pbf.writeTag(1, FIXED64);
    for (const half of STALE_BITS) pbf.writeFixed32(half);
  } else pbf.writeDoubleField(1, value);
  pbf.writeVarintField(2, atMs);
}
