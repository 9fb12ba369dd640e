import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import { show } from '../../shared/api/read.ts';
import { launchSettingsOf } from '../../shared/catalog/node-class-settings.ts';
import { isJson, type Json, listAt, textAt } from '../../shared/sim/json.ts';
import { admit } from '../../shared/sim/kinds.ts';
import { KUBERNETES_VERSION } from '../../shared/sim/world.ts';
import { BadInput } from '../bad-input.ts';
import { doubtsOf } from './doubts.ts';
import { readYaml } from './yaml-text.ts';

interface Loaded {
  readonly object: Json;
  /** `file:line: kind/name` of a field of the object; of the object itself where none is given. */
  readonly place: (path?: string) => string;
}

const EXTENSION = /\.(ya?ml|json)$/;

/** Beside manifests, but none: what `--scenario` reads. */
const SCENARIO = /(^|[./\\])scenario\.ya?ml$/;

/** Files at or below the path, in the order of their names; an explicit file whatever it is. */
function manifestFiles(path: string, problems: string[]): readonly string[] {
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

function nameOf(object: Json): string {
  return `${textAt(object, 'kind') ?? '?'}/${textAt(object, 'metadata', 'name') ?? '?'}`;
}

/** The objects of one text; lists of kind List are opened. */
function parse(file: string, text: string, problems: string[]): readonly Loaded[] {
  return readYaml(file, text, problems).flatMap(({ value, lineOf }): readonly Loaded[] => {
    const isList = isJson(value) && value['kind'] === 'List' && Array.isArray(value['items']);
    const items: readonly unknown[] = isList ? listAt(value, 'items') : [value];
    return items.flatMap((object, index): readonly Loaded[] => {
      const start = isList ? `items[${index}]` : '';
      const at = (path = ''): string =>
        `${file}:${lineOf([start, path].filter((each) => each !== '').join('.'))}`;
      if (!isJson(object)) problems.push(`${at()}: a Kubernetes object is expected`);
      else if (textAt(object, 'kind') === undefined) problems.push(`${at()}: ${noKind(object)}`);
      else return [{ object, place: (path) => `${at(path)}: ${nameOf(object)}` }];
      return [];
    });
  });
}

function noKind(object: Json): string {
  const { kind } = object;
  if (kind !== undefined && kind !== null) return `kind must be a string, not ${show(kind)}`;
  const fields = Object.keys(object).slice(0, 5).join(', ');
  return `no kind in this document${fields === '' ? '' : `; it has ${fields}`}`;
}

/** The text of a file; one that cannot be read is a problem, as is one that is no text. */
export function textOf(file: string, problems: string[]): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (!text.includes('\0')) return text;
    problems.push(`${file}: is not a text file`);
  } catch (error) {
    problems.push(`${file}: cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  return '';
}

/** Objects with the same kind, namespace and name as an earlier one. */
function duplicates(loaded: readonly Loaded[]): readonly string[] {
  const seen = new Map<string, string>();
  return loaded.flatMap(({ place, object }) => {
    const namespace = textAt(object, 'metadata', 'namespace') ?? 'default';
    const group = textAt(object, 'apiVersion')?.split('/')[0] ?? '';
    const key = `${group} ${nameOf(object)} in ${namespace}`;
    const before = seen.get(key);
    seen.set(key, place());
    return before === undefined ? [] : [`${place()}: the same object is also in ${before}`];
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
    const field = `${path.join('.')}.name`;
    return [`${place(field)}: ${field}: no EC2NodeClass is named "${name}"; ${there}`];
  });
}

/** Settings of EC2NodeClasses that no node could start with, such as a kubelet's maxPods of -1. */
function unusableSettings(used: readonly Loaded[]): readonly string[] {
  return used.flatMap(({ place, object }) => {
    if (object['kind'] !== 'EC2NodeClass') return [];
    const decoded = decodeEC2NodeClass(object);
    const settings = decoded.ok ? launchSettingsOf(decoded.value) : decoded;
    if (settings.ok) return [];
    return settings.issues.map(({ path, message }) => `${place(path)}: ${path} ${message}`);
  });
}

/** A line for everything that an API server would refuse and that runs here. */
function doubtful(used: readonly Loaded[], known: readonly Json[]): readonly string[] {
  const classes = [...used.map(({ object }) => object), ...known]
    .filter((object) => object['kind'] === 'PriorityClass')
    .flatMap((object) => textAt(object, 'metadata', 'name') ?? []);
  return used.flatMap(({ object, place }) =>
    doubtsOf(object, new Set(classes)).map(
      ({ path, message }) =>
        `${place(path)}: ${path} ${message}: an API server would refuse this, it runs here`,
    ),
  );
}

/**
 * Everything at the paths that the simulated cluster takes; one BadInput with all problems. `known`
 * are objects that will be there besides; for a `live` cluster no variable has a value but those given.
 */
export function loadManifests(
  paths: readonly string[],
  region: string,
  variables: ReadonlyMap<string, string>,
  note: (line: string) => void,
  known: readonly Json[] = [],
  place: 'simulated' | 'live' = 'simulated',
): readonly Json[] {
  const problems: string[] = [];
  const ignored = new Set<string>();
  const value = (name: string): string | undefined =>
    variables.get(name) ?? (place === 'simulated' ? builtIn(name, region) : undefined);
  const named = paths.flatMap((path) => {
    const before = problems.length;
    const found = manifestFiles(path, problems).flatMap((file) =>
      parse(file, substituted(file, textOf(file, problems), value, problems), problems),
    );
    const isEmpty = found.length === 0 && problems.length === before;
    if (isEmpty) problems.push(`${path}: holds no Kubernetes object`);
    return found;
  });
  const used = named.filter(({ place, object }) => {
    const admission = admit(object);
    if (admission.kind === 'ignored') ignored.add(textAt(object, 'kind') ?? '?');
    if (admission.kind === 'refused') {
      const said = admission.issues.map(
        ({ path, message }) => `${place(path)}: ${path} ${message}`,
      );
      problems.push(...said);
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
  // What an API server refuses is its own business where there is one.
  if (place === 'simulated') for (const line of doubtful(used, known)) note(line);
  if (ignored.size > 0) note(`ignored kinds: ${[...ignored].sort().join(', ')}`);
  return used.map(({ object }) => object);
}

/** The same, for callers whose files are known to be good. */
export function loadObjects(paths: readonly string[], region: string): readonly Json[] {
  return loadManifests(paths, region, new Map(), () => {});
}
