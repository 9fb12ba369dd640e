import { nearest } from './nearest.ts';

/** What was probably meant by a name that nothing has, such as ` (did you mean web?)`; else empty. */
export function meant(name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}

/** A problem for each name of an option that no object has, with what was meant and what there is. */
export function unknownNames(
  option: string,
  asked: readonly string[],
  known: Iterable<string>,
): readonly string[] {
  const names = [...new Set(known)].sort();
  const valid = names.length === 0 ? 'none' : names.join(', ');
  return asked
    .filter((name) => !names.includes(name))
    .map(
      (name) =>
        `${option} ${name}: there is none of this name${meant(name, names)}; there are: ${valid}`,
    );
}
