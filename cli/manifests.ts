import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { show } from '../shared/api/read.ts';
import { isJson, type Json, listAt, textAt } from '../shared/sim/json.ts';
import { readYaml } from './simulate/yaml-text.ts';

/** An object of a file, and where it stands there. */
export interface Manifest {
  readonly object: Json;
  /** The document as it is written; undefined for an item of a list. */
  readonly text: string | undefined;
  /** `file:line: kind/name` of a field of the object; of the object itself where none is given. */
  readonly place: (path?: string) => string;
}

const EXTENSION = /\.(ya?ml|json)$/;

/** Beside manifests, but none: what `--scenario` reads. */
const SCENARIO = /(^|[./\\])scenario\.ya?ml$/;

/** Files at or below the path, in the order of their names; an explicit file, and -, whatever it is. */
export function manifestFiles(path: string, problems: string[]): readonly string[] {
  try {
    if (path === '-' || !statSync(path).isDirectory()) return [path];
  } catch {
    problems.push(`${path}: no such file or folder`);
    return [];
  }
  const inside = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  const names = inside.filter((name) => EXTENSION.test(name) && !SCENARIO.test(name));
  if (names.length === 0) problems.push(`${path}: holds no *.yaml, *.yml or *.json file`);
  return names.map((name) => join(path, name));
}

export function nameOf(object: Json): string {
  return `${textAt(object, 'kind') ?? '?'}/${textAt(object, 'metadata', 'name') ?? '?'}`;
}

/** The objects of one text; lists of kind List are opened. */
export function parseManifests(
  file: string,
  text: string,
  problems: string[],
): readonly Manifest[] {
  return readYaml(file, text, problems).flatMap(
    ({ value, lineOf, text: own }): readonly Manifest[] => {
      const isList = isJson(value) && value['kind'] === 'List' && Array.isArray(value['items']);
      const items: readonly unknown[] = isList ? listAt(value, 'items') : [value];
      return items.flatMap((object, index): readonly Manifest[] => {
        const start = isList ? `items[${index}]` : '';
        const at = (path = ''): string =>
          `${file}:${lineOf([start, path].filter((each) => each !== '').join('.'))}`;
        if (!isJson(object)) problems.push(`${at()}: a Kubernetes object is expected`);
        else if (textAt(object, 'kind') === undefined) problems.push(`${at()}: ${noKind(object)}`);
        else {
          const written = isList ? undefined : own;
          return [{ object, text: written, place: (path) => `${at(path)}: ${nameOf(object)}` }];
        }
        return [];
      });
    },
  );
}

function noKind(object: Json): string {
  const { kind } = object;
  if (kind !== undefined && kind !== null) return `kind must be a string, not ${show(kind)}`;
  const fields = Object.keys(object).slice(0, 5).join(', ');
  return `no kind in this document${fields === '' ? '' : `; it has ${fields}`}`;
}

/** The text of a file, or of standard input; one that cannot be read is a problem, as is one that is no text. */
export function textOf(file: string, problems: string[]): string {
  try {
    const text = readFileSync(file === '-' ? 0 : file, 'utf8');
    if (!text.includes('\0')) return text;
    problems.push(`${file}: is not a text file`);
  } catch (error) {
    problems.push(`${file}: cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  return '';
}
