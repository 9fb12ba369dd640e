import { textAt } from '../json.ts';
import { isDeleting, isOver } from '../objects.ts';
import { FOREGROUND, KUBELET, type KubeObject, type ObjectStore, ORPHAN } from '../store.ts';
import type { Timeline } from '../timeline.ts';
import { Worklist } from '../worklist.ts';
import { deletePod } from './workloads.ts';

const OWNED_KINDS = ['Job', 'ReplicaSet', 'Pod', 'NodeClaim', 'Node', 'CSINode'] as const;
const OWNER_KINDS = [
  ...['NodePool', 'NodeClaim', 'Node', 'Pod'],
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'CronJob', 'Job'],
] as const;

type Reference = KubeObject['metadata']['ownerReferences'][number];

/**
 * Deletes what has lost all its owners, or whose owners wait for it, and pods of nodes that are
 * gone. Looks only at what has changed, or whose owner or node has.
 */
export class GarbageCollector {
  private readonly store: ObjectStore;
  private readonly timeline: Timeline;
  private readonly orphanMs: () => number;
  private readonly owned: Worklist;
  private readonly bound: Worklist;

  constructor(store: ObjectStore, timeline: Timeline, orphanMs: () => number) {
    this.store = store;
    this.timeline = timeline;
    this.orphanMs = orphanMs;
    this.owned = new Worklist(store, OWNED_KINDS, ({ kind, object }) =>
      kind === 'removed' || isDeleting(object)
        ? [object, ...store.dependents(object.metadata.uid)]
        : [object],
    );
    this.bound = new Worklist(store, ['Pod'], ({ kind, object }) =>
      kind === 'removed' && object.kind === 'Node' ? store.podsOn(object.metadata.name) : [object],
    );
  }

  collect(): void {
    const { store } = this;
    for (const kind of OWNED_KINDS) {
      for (const object of this.owned.take(kind)) collect(store, object);
    }
    for (const kind of OWNER_KINDS) {
      for (const owner of store.deleting(kind)) letOwnerGo(store, owner);
    }
    for (const pod of this.bound.take('Pod')) {
      if (!isLost(store, pod)) continue;
      const afterMs = this.orphanMs();
      if (afterMs === 0) removePod(store, pod);
      else this.timeline.after(afterMs, () => this.removeLost(pod));
    }
  }

  /** Unless its Node is back, or it has ended by itself. */
  private removeLost({ kind, metadata }: KubeObject): void {
    const pod = this.store.get(kind, metadata.namespace, metadata.name);
    const isSame = pod?.metadata.uid === metadata.uid;
    if (isSame && isLost(this.store, pod)) removePod(this.store, pod);
  }
}

/** Whether the pod is on a node that is gone. */
function isLost(store: ObjectStore, pod: KubeObject): boolean {
  const node = textAt(pod, 'spec', 'nodeName');
  return node !== undefined && store.get('Node', undefined, node) === undefined && !isOver(pod);
}

function ownerOf(
  store: ObjectStore,
  { metadata }: KubeObject,
  { kind, name, uid }: Reference,
): KubeObject | undefined {
  const owner = store.get(kind, metadata.namespace, name) ?? store.get(kind, undefined, name);
  return owner?.metadata.uid === uid ? owner : undefined;
}

/** The owner is there until its dependents are gone. */
function waitsForDependents(owner: KubeObject): boolean {
  return isDeleting(owner) && owner.metadata.finalizers.includes(FOREGROUND);
}

function dependentsOf(store: ObjectStore, { metadata }: KubeObject): readonly KubeObject[] {
  const dependents = store.dependents(metadata.uid);
  return OWNED_KINDS.flatMap((kind) => dependents.filter((each) => each.kind === kind));
}

/** An owner that stays keeps the object; it only forgets the others. */
function collect(store: ObjectStore, object: KubeObject): void {
  const { ownerReferences } = object.metadata;
  if (ownerReferences.length === 0 || isDeleting(object)) return;
  const owners = ownerReferences.flatMap((each) => ownerOf(store, object, each) ?? []);
  const solid = new Set(owners.filter((each) => !waitsForDependents(each)));
  if (solid.size > 0) {
    const uids = new Set([...solid].map(({ metadata }) => metadata.uid));
    if (uids.size < ownerReferences.length) keepOwners(store, object, (uid) => uids.has(uid));
    return;
  }
  const isForeground = owners.length > 0 && dependentsOf(store, object).length > 0;
  if (object.kind === 'Pod') deletePod(store, object);
  else store.delete(object, 0, isForeground ? 'Foreground' : undefined);
}

function keepOwners(store: ObjectStore, object: KubeObject, isKept: (uid: string) => boolean) {
  store.update(object, (latest) => {
    const { metadata } = latest;
    const ownerReferences = metadata.ownerReferences.filter(({ uid }) => isKept(uid));
    return { ...latest, metadata: { ...metadata, ownerReferences } };
  });
}

/** Takes the garbage collector's finalizer from an owner that has nothing to wait for. */
function letOwnerGo(store: ObjectStore, owner: KubeObject): void {
  const { finalizers, uid: own } = owner.metadata;
  if (!isDeleting(owner)) return;
  if (finalizers.includes(ORPHAN)) {
    for (const each of dependentsOf(store, owner)) keepOwners(store, each, (uid) => uid !== own);
    removeFinalizer(store, owner, ORPHAN);
  } else if (finalizers.includes(FOREGROUND)) {
    const isBlocking = ({ uid, blockOwnerDeletion }: Reference): boolean =>
      uid === own && blockOwnerDeletion === true;
    const blocking = dependentsOf(store, owner).some(({ metadata }) =>
      metadata.ownerReferences.some(isBlocking),
    );
    if (!blocking) removeFinalizer(store, owner, FOREGROUND);
  }
}

function removeFinalizer(store: ObjectStore, object: KubeObject, name: string) {
  return store.update(object, (latest) => {
    const { metadata } = latest;
    const finalizers = metadata.finalizers.filter((each) => each !== name);
    return { ...latest, metadata: { ...metadata, finalizers } };
  });
}

/** The pod is gone at once: nobody is there to stop it. */
export function removePod(store: ObjectStore, pod: KubeObject): void {
  const released = removeFinalizer(store, pod, KUBELET);
  if (released !== undefined) store.delete(released);
}
