import type { Issue } from '../shared/api/issue.ts';
import { meant } from '../shared/contract/nearest.ts';

/** What is wrong with a field of an object, after its path, with what was probably meant. */
export function issueText({ path, message, unknown }: Issue): string {
  const near = unknown === undefined ? '' : meant(unknown.word, unknown.known);
  // What was meant comes before the list of what is valid.
  const list = message.indexOf('; valid: ');
  const end = list < 0 ? message.length : list;
  return `${path} ${message.slice(0, end)}${near}${message.slice(end)}`.trim();
}

/** The names that there are, such as `there are: a, b`, after a name that is not one of them. */
export function thereAre(known: Iterable<string>): string {
  const names = [...new Set(known)].sort();
  return `there are: ${names.length === 0 ? 'none' : names.join(', ')}`;
}

/** A problem for each name of an option that no object has, with what was meant and what there is. */
export function unknownNames(
  option: string,
  asked: readonly string[],
  known: Iterable<string>,
): readonly string[] {
  const names = [...new Set(known)].sort();
  return asked
    .filter((name) => !names.includes(name))
    .map(
      (name) =>
        `${option} ${name}: there is none of this name${meant(name, names)}; ${thereAre(names)}`,
    );
}
