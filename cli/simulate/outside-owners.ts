import { selectorMeans } from '../../shared/sim/controllers/budgets.ts';
import { type Json, listAt, objectAt, textAt, textsAt, valueAt } from '../../shared/sim/json.ts';
import { asWorkload } from '../../shared/sim/pod-templates.ts';
import { type Manifest, nameOf } from '../manifests.ts';
import { counted, someOf } from '../words.ts';
import { isActive, type Owner, ownedBy, standInsOf } from './stand-ins.ts';

/** Names told in one note. */
const NAMES_MAX = 5;

function namespaceOf(object: Json): string {
  return textAt(object, 'metadata', 'namespace') ?? 'default';
}

/** Whom the object names as its controller, or else as its first owner. */
function ownerOf(object: Json): Owner | undefined {
  const references = listAt(object, 'metadata', 'ownerReferences');
  const found = references.find((each) => valueAt(each, 'controller') === true) ?? references.at(0);
  if (found === undefined) return undefined;
  const text = (field: string): string => textAt(found, field) ?? '';
  const namespace = namespaceOf(object);
  return { kind: text('kind'), namespace, name: text('name'), uid: text('uid') };
}

/** Kinds whose pods each have one of these as owner. */
const MAKERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['ReplicaSet', ['Deployment', 'ReplicaSet']],
  ['Deployment', ['Deployment']],
  ['StatefulSet', ['StatefulSet']],
  ['DaemonSet', ['DaemonSet']],
]);

/** What the files have, less what was left out. */
class Files {
  private readonly byUid = new Map<string, Json>();
  private readonly nodes = new Set<string>();
  /** What may make pods or Jobs. */
  private readonly workloads: Set<Json>;
  /** What makes an object anew that was left out. */
  private readonly makers = new Map<string, Json>();

  constructor(objects: readonly Json[]) {
    this.workloads = new Set(objects.filter(({ kind }) => kind !== 'Pod' && kind !== 'Node'));
    for (const object of objects) {
      this.byUid.set(textAt(object, 'metadata', 'uid') ?? '', object);
      if (object['kind'] === 'Node') this.nodes.add(textAt(object, 'metadata', 'name') ?? '');
    }
    this.byUid.delete('');
  }

  leaveOut(object: Json, maker?: Json): void {
    this.byUid.delete(textAt(object, 'metadata', 'uid') ?? '');
    this.workloads.delete(object);
    if (object['kind'] === 'Node') this.nodes.delete(textAt(object, 'metadata', 'name') ?? '');
    if (maker !== undefined) this.makers.set(`${nameOf(object)} ${namespaceOf(object)}`, maker);
  }

  /** Whether the object keeps one of its owners, as the garbage collector sees it. */
  hasOwnerOf(object: Json): boolean {
    return listAt(object, 'metadata', 'ownerReferences').some((each) =>
      this.byUid.has(textAt(each, 'uid') ?? ''),
    );
  }

  hasNode(name: string): boolean {
    return this.nodes.has(name);
  }

  /** What makes the object anew: its owner by name alone, or a workload that selects it. */
  makerOf(object: Json, owner: Owner): Json | undefined {
    const before = this.makers.get(`${owner.kind}/${owner.name} ${owner.namespace}`);
    if (before !== undefined) return before;
    const labels = textsAt(object, 'metadata', 'labels');
    const kinds = MAKERS.get(owner.kind) ?? [];
    return [...this.workloads].find((each) => {
      if (namespaceOf(each) !== owner.namespace || each === object) return false;
      if (each['kind'] === owner.kind && isNamed(each, owner.name)) return true;
      const form = asWorkload(each);
      const selector = objectAt(form, 'spec', 'selector');
      return (
        kinds.includes(textAt(form, 'kind') ?? '') &&
        asksSomething(selector) &&
        selectorMeans(selector, labels)
      );
    });
  }
}

/** A selector without terms selects all pods: it says of none whose it is. */
function asksSomething(selector: Json): boolean {
  const labels = Object.keys(objectAt(selector, 'matchLabels'));
  return labels.length + listAt(selector, 'matchExpressions').length > 0;
}

function isNamed(object: Json, name: string): boolean {
  return textAt(object, 'metadata', 'name') === name;
}

function withoutOwners(object: Json): Json {
  const { ownerReferences: _, ...metadata } = objectAt(object, 'metadata');
  return { ...object, metadata };
}

/** The pod as it was before it came to its node. */
function withoutNode(pod: Json): Json {
  const { status: _, ...rest } = pod;
  const { nodeName: __, ...spec } = objectAt(pod, 'spec');
  return { ...rest, spec };
}

/** What becomes of objects whose owner or node is not in the files. */
class Outside {
  private readonly files: Files;
  /** What stands for a manifest that is not kept as it is; undefined: nothing. */
  private readonly changed = new Map<Manifest, Manifest | undefined>();
  private readonly added: Manifest[] = [];
  private readonly groups = new Map<string, { readonly owner: Owner; pods: Manifest[] }>();
  private readonly alone: string[] = [];
  private readonly gone: string[] = [];
  private readonly madeAnew: string[] = [];
  private readonly standing: string[] = [];
  private readonly waiting: string[] = [];

  constructor(files: Files) {
    this.files = files;
  }

  take(manifest: Manifest): void {
    const { object } = manifest;
    const owner = ownerOf(object);
    const isOwned = ['Node', 'ReplicaSet', 'Job', 'Pod'].includes(textAt(object, 'kind') ?? '');
    if (!isOwned || owner === undefined || this.files.hasOwnerOf(object)) {
      this.change(manifest, object);
      return;
    }
    const maker = this.files.makerOf(object, owner);
    const isOfNode = object['kind'] === 'Node' || owner.kind === 'Node';
    if (maker !== undefined && !isOfNode) {
      this.leaveOut(manifest, maker);
      if (object['kind'] === 'Pod') this.madeAnew.push(nameOf(maker));
    } else if (isOfNode) {
      this.leaveOut(manifest);
      this.gone.push(nameOf(object));
    } else if (object['kind'] === 'Pod') {
      const key = JSON.stringify(owner);
      const group = this.groups.get(key) ?? { owner, pods: [] };
      this.groups.set(key, group);
      group.pods.push(manifest);
    } else {
      this.alone.push(nameOf(object));
      this.change(manifest, withoutOwners(object));
    }
  }

  standIn(): void {
    for (const { owner, pods } of this.groups.values()) {
      const byObject = new Map(pods.map((each) => [each.object, each]));
      const [first] = pods;
      this.standing.push(`${owner.kind}/${owner.name} (${counted(pods.length, 'pod')})`);
      for (const [object, own] of standInsOf(owner, [...byObject.keys()])) {
        if (first !== undefined) this.added.push({ ...first, object, text: undefined });
        for (const pod of own) {
          const manifest = byObject.get(pod);
          if (manifest === undefined) continue;
          // A DaemonSet's pod goes with its node.
          if (owner.kind === 'DaemonSet' && !this.isPlaced(pod)) this.leaveOut(manifest);
          else this.change(manifest, ownedBy(pod, object));
        }
      }
    }
  }

  private leaveOut(manifest: Manifest, maker?: Json): void {
    this.files.leaveOut(manifest.object, maker);
    this.changed.set(manifest, undefined);
  }

  /** Whether the node that the pod is bound to, if any, is in the files. */
  private isPlaced(pod: Json): boolean {
    const node = textAt(pod, 'spec', 'nodeName');
    return node === undefined || !isActive(pod) || this.files.hasNode(node);
  }

  /** Puts the object in the place of the manifest's, without a node that is somewhere else. */
  private change(manifest: Manifest, object: Json): void {
    const isThere = object['kind'] !== 'Pod' || this.isPlaced(object);
    if (!isThere) this.waiting.push(nameOf(object));
    this.changed.set(manifest, { ...manifest, object: isThere ? object : withoutNode(object) });
  }

  result(used: readonly Manifest[]) {
    const makers = [...Map.groupBy(this.madeAnew, (name) => name)].map(
      ([name, pods]) => `${counted(pods.length, 'pod')} of ${name}`,
    );
    const told: readonly (readonly [string, readonly string[]])[] = [
      [
        'owners that are not in the files: a workload stands in for each and makes its pods anew',
        this.standing,
      ],
      ['stand by themselves, as their owner is not in the files', this.alone],
      ['made anew by their workload in the files, as they name another owner', makers],
      ['left out, as their owner is not in the files', this.gone],
      ['wait for a node, as theirs is not in the files', this.waiting],
    ];
    const notes = told.flatMap(([what, names]) =>
      names.length === 0 ? [] : [`${what}: ${someOf(names, NAMES_MAX)}`],
    );
    const kept = used.flatMap((each) =>
      this.changed.has(each) ? (this.changed.get(each) ?? []) : [each],
    );
    return { used: [...kept, ...this.added], notes };
  }
}

/** Owners before what they own. */
const ORDER = ['Node', 'ReplicaSet', 'Job'];

/**
 * The objects without owners and nodes that are somewhere else: in a real cluster the garbage
 * collector would delete them, but `kubectl get pods -o yaml` prints neither. Workloads stand in
 * for owners of pods.
 */
export function withOwners(
  used: readonly Manifest[],
  known: readonly Json[],
): { readonly used: readonly Manifest[]; readonly notes: readonly string[] } {
  const outside = new Outside(new Files([...used.map(({ object }) => object), ...known]));
  const rank = ({ object }: Manifest): number => {
    const found = ORDER.indexOf(textAt(object, 'kind') ?? '');
    return found === -1 ? ORDER.length : found;
  };
  for (const manifest of used.toSorted((a, b) => rank(a) - rank(b))) outside.take(manifest);
  outside.standIn();
  return outside.result(used);
}
