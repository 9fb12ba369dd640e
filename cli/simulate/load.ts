import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isAlias, isMap, parseAllDocuments } from 'yaml';
import { isJson, type Json, textAt } from '../../shared/sim/json.ts';
import { admit } from '../../shared/sim/kinds.ts';
import { KUBERNETES_VERSION } from '../../shared/sim/world.ts';
import { BadInput } from '../bad-input.ts';

export interface LoadedObject {
  readonly file: string;
  readonly line: number;
  readonly object: Json;
}

const EXTENSION = /\.(ya?ml|json)$/;

/** Files at or below the paths, in the order of their names; explicit files whatever they are. */
export function manifestFiles(paths: readonly string[]): readonly string[] {
  const problems: string[] = [];
  const files = paths.flatMap((path) => {
    try {
      if (!statSync(path).isDirectory()) return [path];
    } catch {
      problems.push(`${path}: no such file or folder`);
      return [];
    }
    const inside = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
    return inside.filter((name) => EXTENSION.test(name)).map((name) => join(path, name));
  });
  if (problems.length > 0) throw new BadInput(problems);
  return files;
}

/** Values of `${NAME}` that need not be given. */
function builtIn(name: string, region: string): string | undefined {
  if (name === 'CLUSTER_NAME') return 'demo';
  if (name === 'AWS_REGION') return region;
  if (name === 'KUBERNETES_VERSION') return KUBERNETES_VERSION;
  return name.endsWith('AMI_ID') ? 'ami-0123456789abcdef0' : undefined;
}

function substituted(
  file: string,
  text: string,
  value: (name: string) => string | undefined,
  problems: string[],
): string {
  return text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string, at: number) => {
    const known = value(name);
    if (known !== undefined) return known;
    const line = text.slice(0, at).split('\n').length;
    problems.push(`${file}:${line}: \${${name}} is not set; give it as --var ${name}=VALUE`);
    return whole;
  });
}

/** The documents of one text; lists of kind List are opened. */
function parse(file: string, text: string, problems: string[]): readonly LoadedObject[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document): readonly LoadedObject[] => {
    for (const error of document.errors) {
      const [at] = error.linePos ?? [];
      const place = at === undefined ? file : `${file}:${at.line}:${at.col}`;
      problems.push(`${place}: ${error.message.split('\n')[0]}`);
    }
    if (document.errors.length > 0 || document.contents === null) return [];
    const start = isAlias(document.contents) ? 0 : (document.contents.range?.[0] ?? 0);
    const line = text.slice(0, start).split('\n').length;
    const object: unknown = document.toJS();
    if (!isMap(document.contents) || !isJson(object)) {
      problems.push(`${file}:${line}: a Kubernetes object is expected`);
      return [];
    }
    const items = object['kind'] === 'List' ? object['items'] : undefined;
    const objects = Array.isArray(items) ? items.filter(isJson) : [object];
    return objects.map((each) => ({ file, line, object: each }));
  });
}

function nameOf(object: Json): string {
  return `${textAt(object, 'kind') ?? '?'}/${textAt(object, 'metadata', 'name') ?? '?'}`;
}

/** Everything at the paths that the simulated cluster takes; one BadInput with all problems. */
export function loadManifests(
  paths: readonly string[],
  region: string,
  variables: ReadonlyMap<string, string>,
  note: (line: string) => void,
): readonly Json[] {
  const problems: string[] = [];
  const ignored = new Set<string>();
  const value = (name: string): string | undefined => variables.get(name) ?? builtIn(name, region);
  const seen = new Map<string, string>();
  const used = manifestFiles(paths).flatMap((file) => {
    const text = substituted(file, readFileSync(file, 'utf8'), value, problems);
    return parse(file, text, problems).flatMap(({ line, object }): readonly Json[] => {
      const place = `${file}:${line}: ${nameOf(object)}`;
      const admission = admit(object);
      if (admission.kind === 'ignored') ignored.add(textAt(object, 'kind') ?? '?');
      if (admission.kind === 'refused') {
        problems.push(...admission.issues.map((each) => `${place}: ${each.path} ${each.message}`));
      }
      if (admission.kind !== 'used') return [];
      const key = `${nameOf(object)} in ${textAt(object, 'metadata', 'namespace') ?? 'default'}`;
      const before = seen.get(key);
      if (before !== undefined) problems.push(`${place}: is also in ${before}`);
      seen.set(key, `${file}:${line}`);
      return [object];
    });
  });
  if (problems.length > 0) throw new BadInput(problems);
  if (ignored.size > 0) note(`ignored kinds: ${[...ignored].sort().join(', ')}`);
  return used;
}

/** The same, for callers whose files are known to be good. */
export function loadObjects(paths: readonly string[], region: string): readonly Json[] {
  return loadManifests(paths, region, new Map(), () => {});
}
