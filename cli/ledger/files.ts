import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type ReadDecision, recordsOf } from '../../shared/api/decision-record.ts';
import type { RecordingJson } from '../../shared/app/recording/recording.ts';
import { recordingIn } from '../../shared/app/recording/replayed.ts';
import { textAt } from '../../shared/sim/json.ts';
import { BadInput, unreadable } from '../bad-input.ts';
import { FINAL_STATE } from '../simulate/recordings.ts';
import { standardInput } from '../standard-input.ts';

/** A recording and where it was read. */
export interface NamedRecording {
  readonly file: string;
  readonly recording: RecordingJson;
}

/** A recording that is parsed when it is asked for, because it contains a whole cluster. */
export interface UnreadRecording {
  /** When it was made; undefined: that cannot be read. */
  readonly atMs: number | undefined;
  /** Undefined, with a note: it is none. */
  readonly read: () => Promise<NamedRecording | undefined>;
}

/** What the functions have written of a time: records, and recordings one by one. */
export interface Written {
  /** In order of time. */
  readonly records: readonly ReadDecision[];
  /** In order of time. */
  readonly recordings: readonly UnreadRecording[];
  /** When the last recording was made, or the simulation ended; 0 where neither, or in the bucket. */
  readonly lastMs: number;
  /** What could not be read, a line each; complete once all recordings have been looked at. */
  readonly notes: string[];
}

const FOLDER = "a folder of simulate --record, or a copy of the cluster's in the bucket";
/** Where a person finds recordings. */
export const WHERE =
  'recordings are in the bucket below snapshots/ and in the folder of simulate --record';

const GZIP_MAGIC = [0x1f, 0x8b];
const IS_RECORDING = /(^|[-/])(provision|disrupt)-[^/]*\.json(\.gz)?$/;
const IS_RECORDS = /\.ndjson(\.gz)?$/;

/** The text of a file's bytes, compressed or not. */
export function unzipped(bytes: Uint8Array): string {
  const isZipped = GZIP_MAGIC.every((byte, at) => bytes[at] === byte);
  return Buffer.from(isZipped ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** Which recording of a folder can be named instead; undefined: it is no folder, or holds none. */
function heldBy(folder: string): string | undefined {
  try {
    const found = filesIn(folder).filter((file) => IS_RECORDING.test(file));
    if (found.length === 0) return undefined;
    return `name files, such as ${found[0]}${found.length > 1 ? ` (of ${found.length})` : ''}`;
  } catch {
    return undefined;
  }
}

/** The text of a recording's file, compressed or not; `-` is standard input. */
export function recordingText(file: string): string {
  try {
    return unzipped(file === '-' ? standardInput() : readFileSync(file));
  } catch (error) {
    throw unreadable(file, error, `a recording: ${heldBy(file) ?? WHERE}`);
  }
}

/** When what was written ends. */
export function lastMs({ records, lastMs: recording }: Written): number {
  return Math.max(recording, ...records.slice(-1).map(({ atMs }) => atMs));
}

/** In order of time; those of one moment by id. */
function byTime(a: ReadDecision, b: ReadDecision): number {
  return a.atMs - b.atMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** A recording in a text; undefined, with a note: it is none. */
export function parsedRecording(
  file: string,
  text: () => string,
  notes: string[],
): NamedRecording | undefined {
  try {
    const recording = recordingIn(text());
    if (recording !== undefined) return { file, recording };
    notes.push(`${file}: not a recording that this version can read`);
  } catch (error) {
    notes.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}

/** What is made of a recording; a {@link BadInput} where it is damaged. */
export function madeOf<Value>({ file }: NamedRecording, make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BadInput([`${file}: the decision cannot be repeated: ${why}`]);
  }
}

/** What is made of one of many recordings; undefined, with a note: it is damaged. */
export function madeOfOne<Value>(
  named: NamedRecording,
  make: () => Value,
  { notes }: Written,
): Value | undefined {
  try {
    return madeOf(named, make);
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    notes.push(...error.problems);
    return undefined;
  }
}

/** Each decision once: an invocation that was repeated writes its decisions twice. */
function once(records: readonly ReadDecision[]): readonly ReadDecision[] {
  const all = new Map(records.map((each) => [`${each.id} ${each.atMs}`, each]));
  return [...all.values()].sort(byTime);
}

/** When a recording was made, by the beginning of its text. */
function timeOf(text: string): string {
  return /"at":\s*"([^"]+)"/.exec(text.slice(0, 200))?.[1] ?? '';
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name))
      .sort();
  } catch (error) {
    throw unreadable(folder, error, FOLDER);
  }
}

/** A recording's file, and when it was made; without a time where none can be read. */
interface Dated {
  readonly file: string;
  readonly at: string;
}

function textOf(file: string): string {
  return unzipped(readFileSync(file));
}

function timeIn(file: string): string {
  try {
    return timeOf(textOf(file));
  } catch {
    return '';
  }
}

/** In order of time, those without one first; those of one moment by name. */
function datedOf(files: readonly string[]): readonly Dated[] {
  return files
    .filter((file) => IS_RECORDING.test(file))
    .map((file) => ({ file, at: timeIn(file) }))
    .sort((a, b) => (a.at === b.at ? (a.file < b.file ? -1 : 1) : a.at < b.at ? -1 : 1));
}

/**
 * The last recording of a folder, the only one that is parsed. A {@link BadInput} where it cannot
 * be read, or where the time of any cannot, since that one may be the last.
 */
export function lastRecordingIn(folder: string): NamedRecording {
  const dated = datedOf(filesIn(folder));
  const last = dated.at(-1);
  if (last === undefined) {
    throw new BadInput([`${folder}: no recordings; joiner simulate --record writes them`]);
  }
  const notes = dated
    .filter(({ at }) => at === '')
    .map(({ file }) => `${file}: the time of the recording cannot be read`);
  const { file } = last;
  const found = notes.length > 0 ? undefined : parsedRecording(file, () => textOf(file), notes);
  if (found !== undefined) return found;
  throw new BadInput([
    `${folder}: the last recording cannot be read; name a file instead`,
    ...notes,
  ]);
}

/** When the simulation that wrote the folder ended; 0 where no simulation did. */
function simulationEndMs(files: readonly string[], notes: string[]): number {
  const file = files.find((each) => basename(each) === FINAL_STATE);
  if (file === undefined) return 0;
  try {
    return Date.parse(textAt(JSON.parse(textOf(file)), 'end') ?? '') || 0;
  } catch {
    notes.push(`${file}: is not JSON: the last record counts as the end`);
    return 0;
  }
}

/** The records in a file; what cannot be read of it is a note. */
function recordsIn(file: string, notes: string[]): readonly ReadDecision[] {
  try {
    const { records, faulty } = recordsOf(textOf(file));
    if (faulty > 0) notes.push(`${file}: ${faulty} of its records cannot be read`);
    return records;
  } catch (error) {
    notes.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

/** Reads the folder of `simulate --record`, or a copy of the cluster's folder of the bucket. */
export function writtenIn(folder: string): Written {
  const files = filesIn(folder);
  const notes: string[] = [];
  const records = files
    .filter((file) => IS_RECORDS.test(file))
    .flatMap((file) => recordsIn(file, notes));
  const named = datedOf(files);
  if (records.length === 0 && named.length === 0) {
    throw new BadInput([
      `${folder}: neither recordings nor decision records; joiner simulate --record writes both`,
      ...notes,
    ]);
  }
  return {
    records: once(records),
    lastMs: Math.max(Date.parse(named.at(-1)?.at ?? '') || 0, simulationEndMs(files, notes)),
    notes,
    recordings: named.map(({ file, at }) => ({
      atMs: Date.parse(at) || undefined,
      read: async () => parsedRecording(file, () => textOf(file), notes),
    })),
  };
}
