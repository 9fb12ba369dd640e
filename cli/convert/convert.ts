import type { Issue } from '../../shared/api/issue.ts';
import { type Json, objectAt, textAt } from '../../shared/sim/json.ts';
import { admit } from '../../shared/sim/kinds.ts';
import { type Manifest, nameOf } from '../manifests.ts';
import { issueText } from '../unknown-names.ts';
import { type Item, readItem, typeOf } from './items.ts';
import { type KubeletPlan, placeKubelets } from './kubelets.ts';
import { templateVersions } from './node-groups/read.ts';
import { oldNames } from './old-names.ts';
import { type ClassPart, type Note, originOf, type PoolPart } from './part.ts';
import { CLASS_GROUP, CLASS_KIND } from './pool.ts';
import type { Identity } from './selectors.ts';

/** An object as it goes out. */
export interface Output {
  readonly object: Json;
  /** As its file has it; undefined where it is written anew. */
  readonly text: string | undefined;
}

/** A note and the object that it is about, for people and for programs. */
export interface ObjectNote extends Note {
  readonly place: string;
  readonly object: string;
}

export interface Conversion {
  readonly outputs: readonly Output[];
  readonly notes: readonly ObjectNote[];
  readonly problems: readonly string[];
}

const POOL = 'karpenter.sh/v1 NodePool';
const CLASS = `${CLASS_GROUP}/v1 ${CLASS_KIND}`;

/** An output with where it is from, to say what is wrong with it in words of the old API. */
interface Made extends Output {
  readonly from: Manifest;
  readonly origin: (path: string) => string;
}

function noted(from: Manifest, { field, message }: Note): ObjectNote {
  return { place: from.place(field), object: nameOf(from.object), field, message };
}

function poolName({ metadata }: PoolPart): string {
  return textAt(metadata, 'name') ?? '';
}

function planOf(items: readonly Item[]): KubeletPlan {
  const converted = items.flatMap((item) =>
    item.kind === 'class' ? (textAt(item.part.metadata, 'name') ?? []) : [],
  );
  const current = items.flatMap(({ kind, from: { object } }) =>
    kind === 'as-is' && typeOf(object) === CLASS ? (textAt(object, 'metadata', 'name') ?? []) : [],
  );
  const users = items.flatMap((item) => {
    if (item.kind === 'pool') {
      const { part } = item;
      return [{ pool: poolName(part), className: part.nodeClassRef.name, kubelet: part.kubelet }];
    }
    const { object } = item.from;
    if (item.kind !== 'as-is' || typeOf(object) !== POOL) return [];
    const path = ['spec', 'template', 'spec', 'nodeClassRef', 'name'] as const;
    const pool = textAt(object, 'metadata', 'name') ?? '';
    return [{ pool, className: textAt(object, ...path) ?? '', kubelet: undefined }];
  });
  return placeKubelets(users, new Set(converted), new Set([...converted, ...current]));
}

function nodeClass({ metadata, spec }: ClassPart, kubelet: Json | undefined, name?: string): Json {
  return {
    apiVersion: `${CLASS_GROUP}/v1`,
    kind: CLASS_KIND,
    metadata: name === undefined ? metadata : { ...metadata, name },
    spec: kubelet === undefined ? spec : { ...spec, kubelet },
  };
}

function madeOfClass(from: Manifest, part: ClassPart, plan: KubeletPlan): readonly Made[] {
  const name = textAt(part.metadata, 'name') ?? '';
  const origin = (path: string) => originOf(path, part.origins);
  const own = nodeClass(part, plan.kubelets.get(name));
  const copies = plan.copies
    .filter((copy) => copy.of === name)
    .map((copy) => nodeClass(part, copy.kubelet, copy.name));
  return [own, ...copies].map((object) => ({ object, text: undefined, from, origin }));
}

function madeOfPool(from: Manifest, part: PoolPart, plan: KubeletPlan): Made {
  const { template } = part.spec;
  const { requirements, taints, startupTaints, ...rest } = template.spec;
  const name = plan.classes.get(poolName(part)) ?? part.nodeClassRef.name;
  const spec = {
    requirements,
    ...(taints === undefined ? {} : { taints }),
    ...(startupTaints === undefined ? {} : { startupTaints }),
    nodeClassRef: { ...part.nodeClassRef, name },
    ...rest,
  };
  const object = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: part.metadata,
    spec: { ...part.spec, template: { ...template, spec } },
  };
  return { object, text: undefined, from, origin: (path) => originOf(path, part.origins) };
}

function kubeletNotes(part: PoolPart, plan: KubeletPlan): readonly Note[] {
  const { kubeletField: field, nodeClassRef, kubelet } = part;
  const of = `EC2NodeClass/${nodeClassRef.name}`;
  if (plan.homeless.has(poolName(part))) {
    const message = `left out: v1 has it in the class, and ${of} is not among what is converted: write there spec.kubelet: ${JSON.stringify(kubelet)}`;
    return [{ field, message }];
  }
  const copy = plan.classes.get(poolName(part));
  if (copy === undefined) return [];
  const message = `v1 has it in the class, and other NodePools of ${of} say something else: EC2NodeClass/${copy} is written, which is the same with this kubelet`;
  return [{ field, message }];
}

function made(item: Item, plan: KubeletPlan): readonly Made[] {
  const { from } = item;
  if (item.kind === 'pool') return [madeOfPool(from, item.part, plan)];
  if (item.kind === 'class') return madeOfClass(from, item.part, plan);
  if (item.kind === 'left-out' || item.kind === 'noted') return [];
  return [{ object: from.object, text: from.text, from, origin: (path) => path }];
}

function notesOf(item: Item, plan: KubeletPlan): readonly ObjectNote[] {
  const { from } = item;
  if (item.kind === 'left-out') {
    const kind = textAt(from.object, 'kind') ?? '';
    return [noted(from, { field: 'kind', message: `"${kind}": ${item.why}` })];
  }
  const notes = {
    pool: () =>
      item.kind === 'pool' ? [...item.part.notes, ...kubeletNotes(item.part, plan)] : [],
    class: () => (item.kind === 'class' ? item.part.notes : []),
    'as-is': () => oldNames(from.object),
    noted: () => (item.kind === 'noted' ? item.notes : []),
  }[item.kind]();
  return notes.map((note) => noted(from, note));
}

/** What v1's own schema has against an object. */
function issuesOf(object: Json): readonly Issue[] {
  if (![POOL, CLASS].includes(typeOf(object))) return [];
  const admission = admit(object);
  return admission.kind === 'refused' ? admission.issues : [];
}

function faultsOf(all: readonly Made[]): readonly string[] {
  const seen = new Map<string, string>();
  return all.flatMap(({ object, from, origin }) => {
    const issues = issuesOf(object).map((each) => {
      const field = origin(each.path);
      return `${from.place(field)}: ${issueText({ ...each, path: field })}`;
    });
    const key = `${typeOf(object)} ${textAt(object, 'metadata', 'name')}`;
    const before = seen.get(key);
    seen.set(key, from.place());
    if (before === undefined || ![POOL, CLASS].includes(typeOf(object))) return issues;
    return [...issues, `${from.place()}: ${nameOf(object)} is also made of ${before}`];
  });
}

/** The settings of Karpenter up to v0.31 may name an instance profile for all classes. */
function settingsIdentity(manifests: readonly Manifest[]): Identity {
  const settings = manifests.find(
    ({ object }) => nameOf(object) === 'ConfigMap/karpenter-global-settings',
  );
  const profile = textAt(objectAt(settings?.object, 'data'), 'aws.defaultInstanceProfile');
  if (profile === undefined || profile === '') return undefined;
  return { instanceProfile: profile, source: 'ConfigMap karpenter-global-settings' };
}

/** Manifests of any API of Karpenter's as v1, in their order; all others as they are. */
export function convert(manifests: readonly Manifest[], given: Identity): Conversion {
  const identity = given ?? settingsIdentity(manifests);
  const classes = new Set(
    manifests
      .filter(({ object }) => /^(AWSNodeTemplate|EC2NodeClass)$/.test(String(object['kind'])))
      .map(({ object }) => textAt(object, 'metadata', 'name') ?? ''),
  );
  const templates = templateVersions(manifests.map(({ object }) => object));
  const known = { isTaken: (name: string) => classes.has(name), templates };
  const reads = manifests.map((from) => ({ from, ...readItem(from, identity, known) }));
  const problems = reads.flatMap(({ from, issues }) =>
    issues.map((each) => `${from.place(each.path)}: ${issueText(each)}`),
  );
  const items = reads.flatMap((read) => read.items);
  const plan = planOf(items);
  const all = items.flatMap((item) => made(item, plan));
  return {
    outputs: all.map(({ object, text }) => ({ object, text })),
    notes: items.flatMap((item) => notesOf(item, plan)),
    // A copy of a class has the faults of the class.
    problems: [...new Set([...problems, ...faultsOf(all)])],
  };
}
