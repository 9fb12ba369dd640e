import { isScalar, parseDocument } from 'yaml';
import { isJson, type Json } from '../../shared/sim/json.ts';
import type { Problems } from '../bad-input.ts';

/** The value of a name; undefined: `${NAME}` is text like any other. */
export type Substitution = (name: string) => string | undefined;

/** Also as a shell has it, with a default: that is text as well, until the name is given. */
const NAMES = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?-[^}]*)?\}/g;

/** The text with the values of the names that have one. */
export function substituted(text: string, value: Substitution): string {
  return text.replaceAll(NAMES, (whole, name: string) => value(name) ?? whole);
}

/** Whether the text holds a name that has a value. */
export function isNamed(text: string, value: Substitution): boolean {
  return substituted(text, value) !== text;
}

/** The names in a text, each once. */
export function namesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(NAMES)].map(([, name = '']) => name))];
}

/** What YAML makes of a text without quotes: `3` is a number. */
export function plainValue(text: string): unknown {
  const { errors, contents } = parseDocument(text, { logLevel: 'error' });
  if (errors.length > 0) return text;
  if (contents === null) return null;
  return isScalar(contents) ? contents.value : text;
}

/** The object with values in its keys, too. */
export function withKeys(value: unknown, names: Substitution): unknown {
  if (Array.isArray(value)) return value.map((each) => withKeys(each, names));
  if (!isJson(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, each]) => [substituted(key, names), withKeys(each, names)]),
  );
}

/** A name that has no value, and the field where it stands. */
export interface Unset {
  readonly path: string;
  readonly names: readonly string[];
}

/** Names that stand as text in fields below this one, and in keys. */
export function unsetIn(value: unknown, path = ''): readonly Unset[] {
  if (typeof value === 'string') {
    const names = namesIn(value);
    return names.length === 0 ? [] : [{ path, names }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => unsetIn(each, `${path}[${index}]`));
  }
  if (!isJson(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const field = path === '' ? key : `${path}.${key}`;
    return [...unsetIn(key, field), ...unsetIn(each, field)];
  });
}

/** How a problem that names such a text is solved. */
export function withAdvice(problem: string): string {
  if (problem.includes('--var ')) return problem;
  const names = namesIn(problem);
  const given = names.map((name) => `--var ${name}=VALUE`).join(' ');
  if (names.length === 0) return problem;
  const said = names.map((name) => `\${${name}}`).join(', ');
  const [is, it] = names.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${problem}; ${said} ${is} not set: give ${it} as ${given}`;
}

/** Fields of any kind that decide where a pod goes. */
const DECIDING =
  /\.(nodeSelector|affinity|tolerations|topologySpreadConstraints|resources)[.[]|\.(nodeName|schedulerName|priorityClassName|storageClassName)$/;

/** Names without a value in fields that decisions read. */
export function decidingUnset(object: Json): readonly Unset[] {
  const group = String(object['apiVersion'] ?? '').split('/')[0] ?? '';
  const isOwn = group === 'karpenter.sh' || group === 'karpenter.k8s.aws';
  return unsetIn(object).filter(({ path }) => {
    if (path === 'metadata.namespace') return true;
    if (path.startsWith('metadata.') || path === 'spec.userData') return false;
    return isOwn || DECIDING.test(path);
  });
}

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
