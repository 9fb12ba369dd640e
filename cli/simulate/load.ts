import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import { launchSettingsOf } from '../../shared/catalog/node-class-settings.ts';
import { kubeletProblems } from '../../shared/core/launch/node-class-problems.ts';
import { isJson, type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import { admit } from '../../shared/sim/kinds.ts';
import { KUBERNETES_VERSION } from '../../shared/sim/world.ts';
import { BadInput } from '../bad-input.ts';
import { type Foreign, foreignNote, renderingAdvice } from '../foreign.ts';
import { labelOf, manifestFiles } from '../manifest-files.ts';
import { type Finding, type Manifest, manifestsOf, nameOf } from '../manifests.ts';
import { issueText } from '../unknown-names.ts';
import { isAutoscaler, scaled } from './autoscalers.ts';
import { classReferences } from './class-references.ts';
import { doubtsOf } from './doubts.ts';
import { ignoredNotes } from './ignored.ts';
import { misspeltKind } from './misspelt-kinds.ts';
import { withOwners } from './outside-owners.ts';
import { type Place, remarksOn } from './remarks.ts';
import { suggestion } from './suggestions.ts';
import { decidingUnset, type Substitution, unsetIn, withAdvice, withKeys } from './variables.ts';

/** Values of `${NAME}` that need not be given. */
function builtIn(name: string, region: string): string | undefined {
  if (name === 'CLUSTER_NAME') return 'demo';
  if (name === 'AWS_REGION') return region;
  if (name === 'KUBERNETES_VERSION') return KUBERNETES_VERSION;
  return name.endsWith('AMI_ID') ? 'ami-0123456789abcdef0' : undefined;
}

const WORKLOADS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

/** The API server takes no workload of `apps/v1` without a selector; a patch needs none. */
function isPatch(object: Json): boolean {
  const isWorkload = WORKLOADS.has(textAt(object, 'kind') ?? '');
  return isWorkload && objectAt(object, 'spec')['selector'] === undefined;
}

/** Of objects with the same kind, namespace and name the last, as kubectl apply leaves it. */
function lastOfEach(loaded: readonly Manifest[]) {
  const last = new Map<string, Manifest>();
  const twice: string[] = [];
  const patches: string[] = [];
  for (const manifest of loaded) {
    const { object, place } = manifest;
    const namespace = textAt(object, 'metadata', 'namespace') ?? 'default';
    const group = textAt(object, 'apiVersion')?.split('/')[0] ?? '';
    const key = `${group} ${nameOf(object)} in ${namespace}`;
    const before = last.get(key);
    if (isPatch(object)) {
      const isAlone = listAt(object, 'spec', 'template', 'spec', 'containers').length > 0;
      if (before !== undefined || !isAlone) {
        patches.push(place());
        continue;
      }
    }
    if (before !== undefined && !isPatch(before.object))
      twice.push(`${place()} counts, and not ${before.place()}`);
    last.set(key, manifest);
  }
  const more = twice.length > TWICE_MAX ? `; and ${twice.length - TWICE_MAX} more` : '';
  const told = `the last of the same object counts: ${twice.slice(0, TWICE_MAX).join('; ')}${more}`;
  const notes = patches.map(
    (each) => `${each} is left out: it looks like a patch (kustomize build DIR | joiner … -)`,
  );
  return { used: [...last.values()], notes: [...notes, ...(twice.length === 0 ? [] : [told])] };
}

/** Variables that no manifest names. */
function idleNotes(
  variables: ReadonlyMap<string, string>,
  found: ReadonlySet<string>,
): readonly string[] {
  const idle = [...variables.keys()].filter((name) => !found.has(name));
  return idle.map((name) => `--var ${name}: no manifest has \${${name}}`);
}

/** Objects that are there twice, told in one note. */
const TWICE_MAX = 3;

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
    return issues.map((each) => `${place(each.path)}: ${issueText(each)}`);
  });
}

/** A line for everything that an API server would refuse and that runs here. */
function doubtful(used: readonly Manifest[], known: readonly Json[]): readonly string[] {
  const all = [...used.map(({ object }) => object), ...known];
  const named = (kind: string): ReadonlySet<string> =>
    new Set(
      all
        .filter((object) => object['kind'] === kind)
        .flatMap((object) => textAt(object, 'metadata', 'name') ?? []),
    );
  const classes = { priority: named('PriorityClass'), runtime: named('RuntimeClass') };
  return used.flatMap(({ object, place }) =>
    doubtsOf(object, classes).map(
      ({ path, message }) =>
        `${place(path)}: ${path} ${message}: an API server would refuse this, it runs here`,
    ),
  );
}

/** A line for each object whose fields hold names that have no value. */
function unsetNotes(used: readonly Manifest[]): readonly string[] {
  return used.flatMap(({ object, place }) => {
    const unset = decidingUnset(object);
    const [first] = unset;
    if (first === undefined) return [];
    const names = [...new Set(unset.flatMap((each) => each.names))];
    const said = names.map((name) => `\${${name}}`).join(', ');
    const fields = [...new Set(unset.map(({ path }) => path))].slice(0, FIELDS_MAX).join(', ');
    const more = unset.length > FIELDS_MAX ? ', …' : '';
    const given = names.map((name) => `--var ${name}=VALUE`).join(' ');
    const what = `${fields}${more}: ${said} is not set and stands as text; give ${given}`;
    return [`${place(first.path)}: ${what}`];
  });
}

/** Fields named in one note. */
const FIELDS_MAX = 4;

/** What is wrong with an object by its schema; a value that was not put in is told by its name. */
function refusals({ object, place }: Manifest): readonly string[] {
  const admission = admit(object);
  const misspelt = admission.kind === 'ignored' ? misspeltKind(object) : undefined;
  if (misspelt !== undefined) return [`${place(misspelt.path)}: ${issueText(misspelt)}`];
  if (admission.kind !== 'refused') return [];
  const unset = unsetIn(object);
  return admission.issues.map((issue) => {
    const { path, message } = issue;
    const names = unset.find((each) => each.path === path)?.names ?? [];
    const missing = names.filter((name) => !message.includes(`\${${name}}`));
    const held = missing.map((name) => ` (it holds \${${name}})`).join('');
    return `${place(path)}: ${issueText(issue)}${held}${suggestion(object, path, message)}`;
  });
}

/** As the API server names an object that has only the beginning of a name. */
function withName(object: Json, index: number): Json {
  const start = textAt(object, 'metadata', 'generateName');
  if (start === undefined || textAt(object, 'metadata', 'name') !== undefined) return object;
  return { ...object, metadata: { ...objectAt(object, 'metadata'), name: `${start}${index + 1}` } };
}

/** The objects at the path, with values put in. */
function objectsAt(path: string, value: Substitution, finding: Finding): readonly Manifest[] {
  const { problems } = finding;
  const before = problems.length;
  const found = manifestFiles(path, problems).flatMap((file) => manifestsOf(file, finding, value));
  const isEmpty = found.length === 0 && problems.length === before;
  if (isEmpty) problems.push(`${labelOf(path)}: holds no Kubernetes object`);
  return found.map((each, index) => {
    // Keys of tags are data: `kubernetes.io/cluster/${CLUSTER_NAME}` is what people select by.
    const isClass = textAt(each.object, 'apiVersion')?.startsWith('karpenter.k8s.aws/') === true;
    const filled = isClass ? withKeys(each.object, value) : withName(each.object, index);
    return isJson(filled) ? { ...each, object: filled } : each;
  });
}

/** What people should know of what was loaded; nothing of it is a fault. */
function notesOn(
  used: readonly Manifest[],
  known: readonly Json[],
  ignored: readonly Manifest[],
  foreign: readonly Foreign[],
  place: Place,
): readonly string[] {
  const left = foreignNote(foreign);
  return [
    ...unsetNotes(used),
    // What an API server refuses is its own business where there is one.
    ...(place === 'live' ? [] : doubtful(used, known)),
    ...remarksOn(used, place),
    ...ignoredNotes(ignored),
    ...(left === undefined ? [] : [left]),
  ];
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
  place: Place = 'simulated',
): readonly Json[] {
  const problems: string[] = [];
  const foreign: Foreign[] = [];
  const found = new Set<string>();
  const value = (name: string): string | undefined => {
    found.add(name);
    return variables.get(name) ?? (place === 'live' ? undefined : builtIn(name, region));
  };
  const named = paths.flatMap((path) => objectsAt(path, value, { problems, foreign }));
  problems.push(...named.flatMap(refusals));
  const admitted = (kind: string) => named.filter(({ object }) => admit(object).kind === kind);
  const last = lastOfEach(admitted('used'));
  const ignored = admitted('ignored');
  const autoscalers = ignored.filter(({ object }) => isAutoscaler(object));
  const counted = scaled(last.used, autoscalers);
  const owned =
    place === 'live' ? { used: counted.used, notes: [] } : withOwners(counted.used, known);
  const { used } = owned;
  const notes = [...counted.notes, ...owned.notes];
  // A class that is itself refused is there all the same: one fault, one line.
  problems.push(...classReferences(named, known), ...unusableSettings(used));
  if (problems.length > 0) {
    // Where there are manifests besides, what has to be rendered is no fault.
    const advice = named.length === 0 ? renderingAdvice(foreign) : undefined;
    throw new BadInput([...problems.map(withAdvice), ...(advice === undefined ? [] : [advice])]);
  }
  const said = notesOn(used, known, ignored, foreign, place);
  for (const line of [...last.notes, ...notes, ...said, ...idleNotes(variables, found)]) note(line);
  return used.map(({ object }) => object);
}

/** The same, for callers whose files are known to be good. */
export function loadObjects(paths: readonly string[], region: string): readonly Json[] {
  return loadManifests(paths, region, new Map(), () => {});
}
