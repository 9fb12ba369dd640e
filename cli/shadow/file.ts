import { readFileSync } from 'node:fs';
import { type Observation, observationSchema } from '../../shared/api/observation.ts';
import { parsedJson } from '../../shared/core/parsed-json.ts';
import { BadInput, unreadable } from '../bad-input.ts';

/** The observation in a text; otherwise what is wrong with it. */
export function observationIn(text: string): Observation | string {
  const { data, error } = observationSchema.safeParse(parsedJson(text));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  return `is no observation: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
}

/** The observations of a file; a line that is none is refused, with its number. */
export function observationsIn(file: string): readonly Observation[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
  const lines = text.split('\n').map((line, at) => ({ line, at: at + 1 }));
  return lines
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, at }) => {
      const read = observationIn(line);
      if (typeof read === 'string') throw new BadInput([`${file}:${at}: ${read}`]);
      return read;
    });
}
