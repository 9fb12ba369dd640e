import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import { launchSettingsOf } from '../../shared/catalog/node-class-settings.ts';
import { kubeletProblems } from '../../shared/core/launch/node-class-problems.ts';
import { type Json, textAt } from '../../shared/sim/json.ts';
import { admit } from '../../shared/sim/kinds.ts';
import { KUBERNETES_VERSION } from '../../shared/sim/world.ts';
import { BadInput } from '../bad-input.ts';
import { type Manifest, manifestFiles, nameOf, parseManifests, textOf } from '../manifests.ts';
import { doubtsOf } from './doubts.ts';

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

/** Objects with the same kind, namespace and name as an earlier one. */
function duplicates(loaded: readonly Manifest[]): readonly string[] {
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
function danglingReferences(
  loaded: readonly Manifest[],
  known: readonly Json[],
): readonly string[] {
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

/**
 * Settings of EC2NodeClasses that no node could start with, such as a kubelet's maxPods of -1. What
 * is well formed and not supported is said by the class's condition.
 */
function unusableSettings(used: readonly Manifest[]): readonly string[] {
  return used.flatMap(({ place, object }) => {
    if (object['kind'] !== 'EC2NodeClass') return [];
    const decoded = decodeEC2NodeClass(object);
    const settings = decoded.ok ? launchSettingsOf(decoded.value) : decoded;
    if (settings.ok) return [];
    const unsupported = new Set(
      (decoded.ok ? kubeletProblems(decoded.value) : [])
        .filter(({ reason }) => reason === 'KubeletExpressionsDisabled')
        .map((each) => each.path),
    );
    const issues = settings.issues.filter((each) => !unsupported.has(each.path));
    return issues.map(({ path, message }) => `${place(path)}: ${path} ${message}`);
  });
}

/** A line for everything that an API server would refuse and that runs here. */
function doubtful(used: readonly Manifest[], known: readonly Json[]): readonly string[] {
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
      parseManifests(file, substituted(file, textOf(file, problems), value, problems), problems),
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
