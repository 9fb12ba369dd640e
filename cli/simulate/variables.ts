import type { Problems } from '../bad-input.ts';

/** For options that may be repeated. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Values of `${NAME}` in manifests, from `--var NAME=VALUE`. */
export function variablesOf(
  given: readonly string[],
  problems: Problems,
): ReadonlyMap<string, string> {
  return new Map(
    given.flatMap((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [[text.slice(0, at), text.slice(at + 1)] as const];
      problems.add(`--var ${text}: expected NAME=VALUE`);
      return [];
    }),
  );
}
