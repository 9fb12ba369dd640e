import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { type Observation, observationSchema } from '../../shared/api/observation.ts';
import { parsedJson } from '../../shared/core/parsed-json.ts';
import { BadInput, unreadable } from '../bad-input.ts';
import { counted } from '../words.ts';

/** Faulty lines that a note names. */
const NAMED_MAX = 5;

/** The observation in a text; otherwise what is wrong with it. */
export function observationIn(text: string): Observation | string {
  const json = parsedJson(text);
  if (json === undefined) return 'is no JSON: it may be cut';
  const { data, error } = observationSchema.safeParse(json);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const path = issue?.path.join('.') ?? '';
  return `is no observation: ${path === '' ? '' : `${path}: `}${issue?.message ?? ''}`;
}

/** What a file has, and what of it could not be read, a line each. */
export interface ObservationFile {
  readonly observations: readonly Observation[];
  readonly notes: readonly string[];
}

interface Faulty {
  readonly at: number;
  readonly why: string;
}

function noteOf(file: string, faulty: readonly Faulty[], lines: number): string {
  const named = faulty.slice(0, NAMED_MAX).map(({ at, why }) => `${at} (${why})`);
  const more = faulty.length > NAMED_MAX ? ` and ${faulty.length - NAMED_MAX} more` : '';
  const of = `${faulty.length} of its ${counted(lines, 'line')}`;
  return `${file}: ${of} cannot be read: ${named.join(', ')}${more}`;
}

/** The observations of a file. A {@link BadInput} where it has lines, and none that can be read. */
export function observationsIn(file: string): ObservationFile {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
  const lines = text
    .split('\n')
    .map((line, at) => ({ line, at: at + 1 }))
    .filter(({ line }) => line.trim() !== '');
  const read = lines.map(({ line, at }) => ({ at, found: observationIn(line) }));
  const observations = read.flatMap(({ found }) => (typeof found === 'string' ? [] : [found]));
  const faulty = read.flatMap(({ at, found }) =>
    typeof found === 'string' ? [{ at, why: found }] : [],
  );
  const [first] = faulty;
  if (first === undefined) return { observations, notes: [] };
  if (observations.length === 0) throw new BadInput([`${file}:${first.at}: ${first.why}`]);
  return { observations, notes: [noteOf(file, faulty, lines.length)] };
}

/** Whether what is added would continue a line that a killed run has cut. */
function endsWithinLine(file: string): boolean {
  if (!existsSync(file)) return false;
  const opened = openSync(file, 'r');
  try {
    const { size } = fstatSync(opened);
    const last = Buffer.alloc(1);
    return size > 0 && readSync(opened, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
  } finally {
    closeSync(opened);
  }
}

/** The clusters that a file has observations of; of one that was cut in its first line none. */
function clustersIn(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const read = readFileSync(file, 'utf8').split('\n').map(observationIn);
  return [
    ...new Set(read.flatMap((each) => (typeof each === 'string' ? [] : [each.cluster]))),
  ].sort();
}

/**
 * Adds observations to a file, a line each. A {@link BadInput}, before anything is written, where
 * the file has observations of another cluster.
 */
export function recorderTo(file: string): (observation: Observation) => void {
  let isChecked = false;
  return (observation) => {
    const { cluster } = observation;
    const others = isChecked ? [] : clustersIn(file).filter((each) => each !== cluster);
    if (others.length > 0) {
      throw new BadInput([
        `${file}: has observations of ${others.join(', ')}, and this cluster is ${cluster}: give another file`,
      ]);
    }
    isChecked = true;
    const begin = endsWithinLine(file) ? '\n' : '';
    appendFileSync(file, `${begin}${JSON.stringify(observation)}\n`);
  };
}
