import type { OwnerReference } from '../core/model/pod.ts';
import { isJson, type Json, listAt, objectAt, textAt, textsAt } from './json.ts';
import { KindList } from './kind-list.ts';
import { ObjectIndex } from './object-index.ts';
import { HEX, Prng } from './prng.ts';
import type { Timeline } from './timeline.ts';

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly ownerReferences: readonly (OwnerReference & {
    readonly apiVersion?: string;
    readonly controller?: boolean;
    readonly blockOwnerDeletion?: boolean;
  })[];
}

/** An object as the API server keeps it. Never changed: every write makes another one. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly [field: string]: unknown;
}

/** Kinds that live in a namespace. */
const NAMESPACED: ReadonlySet<string> = new Set([
  'Pod',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'Job',
  'CronJob',
  'DaemonSet',
  'PodDisruptionBudget',
  'PersistentVolumeClaim',
  'CapacityBuffer',
  'PodTemplate',
  'LimitRange',
  'ResourceQuota',
  'ConfigMap',
]);

export function storeKey(kind: string, namespace: string | undefined, name: string): string {
  return `${kind}/${namespace ?? ''}/${name}`;
}

export function keyOf(object: KubeObject): string {
  return storeKey(object.kind, object.metadata.namespace, object.metadata.name);
}

export type StoreChange =
  | { readonly kind: 'created' | 'updated'; readonly object: KubeObject }
  | { readonly kind: 'removed'; readonly object: KubeObject };

/** Whether two values are the same data. Versions of an object share most parts: no need to look. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (!isJson(a) || !isJson(b)) return false;
  for (const key in a) if (!isSame(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
}

/** Labels, annotations and the rest of a manifest's metadata, with defaults. */
function metadataOf(manifest: Json): Omit<ObjectMeta, 'uid' | 'resourceVersion'> {
  const { metadata } = manifest;
  const kind = textAt(manifest, 'kind') ?? '';
  const owners = listAt(metadata, 'ownerReferences').map((each) => {
    const apiVersion = textAt(each, 'apiVersion');
    const owner = {
      ...(apiVersion === undefined ? {} : { apiVersion }),
      kind: textAt(each, 'kind') ?? '',
      name: textAt(each, 'name') ?? '',
      uid: textAt(each, 'uid') ?? '',
    };
    const isSaid = (field: string): boolean => isJson(each) && each[field] === true;
    return {
      ...owner,
      ...(isSaid('controller') ? { controller: true } : {}),
      ...(isSaid('blockOwnerDeletion') ? { blockOwnerDeletion: true } : {}),
    };
  });
  return {
    name: textAt(metadata, 'name') ?? '',
    ...(NAMESPACED.has(kind) ? { namespace: textAt(metadata, 'namespace') ?? 'default' } : {}),
    generation: 1,
    creationTimestamp: textAt(metadata, 'creationTimestamp') ?? '',
    labels: textsAt(metadata, 'labels'),
    annotations: textsAt(metadata, 'annotations'),
    finalizers: listAt(metadata, 'finalizers').filter((each) => typeof each === 'string'),
    ownerReferences: owners,
  };
}

/** A claim keeps the class and the volume that it was given: its manifest does not name them. */
function assignedSpec({ kind, spec }: KubeObject, manifest: Json): Json {
  if (kind !== 'PersistentVolumeClaim' || !isJson(spec)) return {};
  return { spec: { ...spec, ...objectAt(manifest, 'spec') } };
}

/** The objects of the simulated cluster, with the API server's rules for versions and deletion. */
export class ObjectStore {
  private readonly byKind = new Map<string, KindList<KubeObject>>();
  private readonly byOwner = new ObjectIndex<KubeObject>(({ metadata }) =>
    metadata.ownerReferences.map(({ uid }) => uid),
  );
  private readonly podsByNode = new ObjectIndex<KubeObject>((object) => {
    const node = object.kind === 'Pod' ? textAt(object, 'spec', 'nodeName') : undefined;
    return node === undefined ? [] : [node];
  });
  private readonly podsByNamespace = new ObjectIndex<KubeObject>(({ kind, metadata }) =>
    kind === 'Pod' ? [metadata.namespace ?? ''] : [],
  );
  private readonly leaving = new ObjectIndex<KubeObject>(({ kind, metadata }) =>
    metadata.deletionTimestamp === undefined ? [] : [kind],
  );
  private readonly timeline: Timeline;
  private readonly uids: Prng;
  private listeners: readonly ((change: StoreChange) => void)[] = [];
  private revision = 0;

  constructor(timeline: Timeline, seed: number) {
    this.timeline = timeline;
    this.uids = new Prng(seed, 'uid');
  }

  /** Grows with every change. */
  get version(): number {
    return this.revision;
  }

  /** Until the signal aborts, if there is one. */
  onChange(listener: (change: StoreChange) => void, signal?: AbortSignal): void {
    if (signal?.aborted) return;
    this.listeners = [...this.listeners, listener];
    const forget = (): void => {
      this.listeners = this.listeners.filter((each) => each !== listener);
    };
    signal?.addEventListener('abort', forget, { once: true });
  }

  /** In the order of names, so that nothing depends on the order of creation. */
  list(kind: string): readonly KubeObject[] {
    return this.byKind.get(kind)?.objects() ?? [];
  }

  /** Objects of all kinds that name the owner; by kind, then by name. */
  dependents(ownerUid: string): readonly KubeObject[] {
    return this.byOwner.at(ownerUid);
  }

  /** Pods that are bound to the node. */
  podsOn(node: string): readonly KubeObject[] {
    return this.podsByNode.at(node);
  }

  podsIn(namespace: string): readonly KubeObject[] {
    return this.podsByNamespace.at(namespace);
  }

  /** Objects of the kind that are being deleted. */
  deleting(kind: string): readonly KubeObject[] {
    return this.leaving.at(kind);
  }

  get(kind: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.byKind.get(kind)?.get(storeKey(kind, namespace, name));
  }

  /** Undefined: the name is taken. */
  create(manifest: Json): KubeObject | undefined {
    const metadata = metadataOf(manifest);
    const kind = textAt(manifest, 'kind') ?? '';
    if (this.get(kind, metadata.namespace, metadata.name) !== undefined) return undefined;
    const object: KubeObject = {
      ...manifest,
      apiVersion: textAt(manifest, 'apiVersion') ?? '',
      kind,
      metadata: {
        ...metadata,
        creationTimestamp: this.createdAt(metadata),
        uid: textAt(manifest, 'metadata', 'uid') ?? this.newUid(),
        resourceVersion: this.nextRevision(),
      },
    };
    this.put(object, 'created');
    return object;
  }

  /** An object of a real cluster may be of a later day than it is here: then it is new. */
  private createdAt({ creationTimestamp: said }: ReturnType<typeof metadataOf>): string {
    return Date.parse(said) <= this.timeline.nowMs() ? said : this.timeline.isoNow();
  }

  /** Creates the object, or replaces what a manifest says of it: labels, annotations, spec. */
  apply(manifest: Json): KubeObject | undefined {
    const created = this.create(manifest);
    if (created !== undefined) return created;
    const { kind } = manifest;
    const said = metadataOf(manifest);
    const before = this.get(String(kind), said.namespace, said.name);
    if (before === undefined) return undefined;
    const { metadata: _, status: __, ...rest } = manifest;
    return this.update(before, (object) => ({
      ...object,
      ...rest,
      ...assignedSpec(object, rest),
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {
        ...object.metadata,
        labels: { ...object.metadata.labels, ...said.labels },
        annotations: { ...object.metadata.annotations, ...said.annotations },
      },
    }));
  }

  /** Writes what `change` makes of the latest version; nothing is written where that is equal. */
  update(object: KubeObject, change: (latest: KubeObject) => KubeObject): KubeObject | undefined {
    const { kind, metadata } = object;
    const latest = this.get(kind, metadata.namespace, metadata.name);
    if (latest === undefined || latest.metadata.uid !== metadata.uid) return undefined;
    const changed = change(latest);
    if (isSame(changed, latest)) return latest;
    const hasNewSpec = !isSame(changed.spec, latest.spec);
    const next: KubeObject = {
      ...changed,
      metadata: {
        ...changed.metadata,
        generation: latest.metadata.generation + (hasNewSpec ? 1 : 0),
        resourceVersion: this.nextRevision(),
      },
    };
    if (next.metadata.deletionTimestamp !== undefined && next.metadata.finalizers.length === 0) {
      this.remove(next);
    } else {
      this.put(next, 'updated');
    }
    return next;
  }

  /**
   * Marks the object; it is gone at once where no finalizer (and no running pod) holds it. What
   * becomes of its dependents is a finalizer, too, that the garbage collector takes away.
   */
  delete(object: KubeObject, graceMs = 0, propagation?: Propagation): void {
    if (propagation !== undefined) {
      const propagating = this.update(object, (latest) => withPropagation(latest, propagation));
      if (propagating !== undefined) this.delete(propagating, graceMs);
      return;
    }
    const isHeld = object.metadata.finalizers.length > 0 || graceMs > 0;
    if (!isHeld) {
      const latest = this.get(object.kind, object.metadata.namespace, object.metadata.name);
      if (latest?.metadata.uid === object.metadata.uid) this.remove(latest);
      return;
    }
    this.update(object, (latest) => {
      if (latest.metadata.deletionTimestamp !== undefined) return latest;
      const deletionTimestamp = new Date(this.timeline.nowMs() + graceMs).toISOString();
      const finalizers = latest.metadata.finalizers;
      const held = graceMs > 0 && finalizers.length === 0 ? [KUBELET] : finalizers;
      return { ...latest, metadata: { ...latest.metadata, deletionTimestamp, finalizers: held } };
    });
  }

  private put(object: KubeObject, kind: 'created' | 'updated'): void {
    const objects = this.byKind.get(object.kind) ?? new KindList();
    this.byKind.set(object.kind, objects);
    const key = keyOf(object);
    this.index(key, objects.get(key), object);
    objects.set(key, object);
    for (const listener of this.listeners) listener({ kind, object });
  }

  private remove(object: KubeObject): void {
    this.nextRevision();
    const key = keyOf(object);
    const objects = this.byKind.get(object.kind);
    this.index(key, objects?.get(key), undefined);
    objects?.delete(key);
    for (const listener of this.listeners) listener({ kind: 'removed', object });
  }

  private index(key: string, before: KubeObject | undefined, after: KubeObject | undefined): void {
    for (const each of [this.byOwner, this.podsByNode, this.podsByNamespace, this.leaving]) {
      each.change(key, before, after);
    }
  }

  private nextRevision(): string {
    this.revision += 1;
    return String(this.revision);
  }

  private newUid(): string {
    const part = (length: number): string => this.uids.text(HEX, length);
    return [part(8), part(4), `4${part(3)}`, `a${part(3)}`, part(12)].join('-');
  }
}

/** What becomes of the dependents of an object that is deleted; kubectl calls it `--cascade`. */
export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** The garbage collector's finalizers. https://kubernetes.io/docs/concepts/architecture/garbage-collection/ */
export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

/** The newest request counts: an object has one of the finalizers at most. */
function withPropagation(object: KubeObject, propagation: Propagation): KubeObject {
  const { metadata } = object;
  const kept = metadata.finalizers.filter((each) => each !== FOREGROUND && each !== ORPHAN);
  const own = { Background: [], Foreground: [FOREGROUND], Orphan: [ORPHAN] }[propagation];
  return { ...object, metadata: { ...metadata, finalizers: [...kept, ...own] } };
}

/** Stands for the kubelet's part in a pod's deletion: the pod is there until it has stopped. */
export const KUBELET = 'sim/kubelet';
