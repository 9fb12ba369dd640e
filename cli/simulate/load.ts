import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isAlias, isMap, parseAllDocuments, type YAMLError } from 'yaml';
import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import { launchSettingsOf } from '../../shared/catalog/node-class-settings.ts';
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

/** Beside manifests, but none: what `--scenario` reads. */
const SCENARIO = /(^|[./\\])scenario\.ya?ml$/;

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
    const names = inside.filter((name) => EXTENSION.test(name) && !SCENARIO.test(name));
    if (names.length === 0) problems.push(`${path}: holds no *.yaml, *.yml or *.json file`);
    return names.map((name) => join(path, name));
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

/** File, line and column of a fault in YAML. */
export function placeOf(file: string, { linePos }: YAMLError): string {
  const [at] = linePos ?? [];
  return at === undefined ? file : `${file}:${at.line}:${at.col}`;
}

/** What is wrong; the lines after it quote the file. */
export function firstLine({ message }: YAMLError): string {
  return message.split('\n')[0] ?? message;
}

/** The documents of one text; lists of kind List are opened. */
function parse(file: string, text: string, problems: string[]): readonly LoadedObject[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document): readonly LoadedObject[] => {
    for (const error of document.errors) {
      problems.push(`${placeOf(file, error)}: ${firstLine(error)}`);
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

/** The text of a file; one that cannot be read is a problem, as is one that is no text. */
function textOf(file: string, problems: string[]): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (!text.includes('\0')) return text;
    problems.push(`${file}: is not a text file`);
  } catch (error) {
    problems.push(`${file}: cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  return '';
}

interface Loaded {
  readonly place: string;
  readonly object: Json;
}

/** Objects with the same kind, namespace and name as an earlier one. */
function duplicates(loaded: readonly Loaded[]): readonly string[] {
  const seen = new Map<string, string>();
  return loaded.flatMap(({ place, object }) => {
    const namespace = textAt(object, 'metadata', 'namespace') ?? 'default';
    const group = textAt(object, 'apiVersion')?.split('/')[0] ?? '';
    const key = `${group} ${nameOf(object)} in ${namespace}`;
    const before = seen.get(key);
    seen.set(key, place);
    return before === undefined ? [] : [`${place}: the same object is also in ${before}`];
  });
}

/** NodePools whose EC2NodeClass is nowhere. */
function danglingReferences(loaded: readonly Loaded[], known: readonly Json[]): readonly string[] {
  const classes = [...loaded.map(({ object }) => object), ...known]
    .filter((object) => object['kind'] === 'EC2NodeClass')
    .map((object) => textAt(object, 'metadata', 'name') ?? '');
  const path = ['spec', 'template', 'spec', 'nodeClassRef'] as const;
  return loaded.flatMap(({ place, object }) => {
    if (object['kind'] !== 'NodePool') return [];
    const name = textAt(object, ...path, 'name') ?? '';
    const isOurs = textAt(object, ...path, 'kind') === 'EC2NodeClass';
    if (!isOurs || classes.includes(name)) return [];
    const there = classes.length === 0 ? 'there is none' : `there is ${classes.sort().join(', ')}`;
    return [`${place}: ${path.join('.')}.name: no EC2NodeClass is named "${name}"; ${there}`];
  });
}

/** Settings of EC2NodeClasses that no node could start with, such as a kubelet's maxPods of -1. */
function unusableSettings(used: readonly Loaded[]): readonly string[] {
  return used.flatMap(({ place, object }) => {
    if (object['kind'] !== 'EC2NodeClass') return [];
    const decoded = decodeEC2NodeClass(object);
    const settings = decoded.ok ? launchSettingsOf(decoded.value) : decoded;
    if (settings.ok) return [];
    return settings.issues.map(({ path, message }) => `${place}: ${path} ${message}`);
  });
}

/**
 * Everything at the paths that the simulated cluster takes; one BadInput with all problems. `known`
 * are objects that will be there besides.
 */
export function loadManifests(
  paths: readonly string[],
  region: string,
  variables: ReadonlyMap<string, string>,
  note: (line: string) => void,
  known: readonly Json[] = [],
): readonly Json[] {
  const problems: string[] = [];
  const ignored = new Set<string>();
  const value = (name: string): string | undefined => variables.get(name) ?? builtIn(name, region);
  const read = manifestFiles(paths).flatMap((file) => {
    const text = substituted(file, textOf(file, problems), value, problems);
    return parse(file, text, problems);
  });
  const named = read.map(({ file, line, object }) => ({
    place: `${file}:${line}: ${nameOf(object)}`,
    object,
  }));
  const used = named.filter(({ place, object }) => {
    const admission = admit(object);
    if (admission.kind === 'ignored') ignored.add(textAt(object, 'kind') ?? '?');
    if (admission.kind === 'refused') {
      problems.push(...admission.issues.map((each) => `${place}: ${each.path} ${each.message}`));
    }
    return admission.kind === 'used';
  });
  // A class that is itself refused is there all the same: one fault, one line.
  problems.push(
    ...duplicates(used),
    ...danglingReferences(named, known),
    ...unusableSettings(used),
  );
  if (problems.length > 0) throw new BadInput(problems);
  if (ignored.size > 0) note(`ignored kinds: ${[...ignored].sort().join(', ')}`);
  return used.map(({ object }) => object);
}

/** The same, for callers whose files are known to be good. */
export function loadObjects(paths: readonly string[], region: string): readonly Json[] {
  return loadManifests(paths, region, new Map(), () => {});
}
