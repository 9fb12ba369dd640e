import { textAt } from '../json.ts';
import { isDeleting, isOver } from '../objects.ts';
import { KUBELET, type KubeObject, type ObjectStore } from '../store.ts';
import { deletePod } from './workloads.ts';

const OWNED_KINDS = ['ReplicaSet', 'Pod', 'NodeClaim'] as const;

/** Deletes what has lost all its owners; pods of nodes that are gone vanish with their kubelet. */
export function collectGarbage(store: ObjectStore): void {
  for (const kind of OWNED_KINDS) {
    for (const object of store.list(kind)) {
      if (isDeleting(object) || !isOrphan(store, object)) continue;
      if (kind === 'Pod') deletePod(store, object);
      else store.delete(object);
    }
  }
  const nodes = new Set(store.list('Node').map((node) => node.metadata.name));
  for (const pod of store.list('Pod')) {
    const node = textAt(pod, 'spec', 'nodeName');
    if (node !== undefined && !nodes.has(node) && !isOver(pod)) removePod(store, pod);
  }
}

function isOrphan(store: ObjectStore, object: KubeObject): boolean {
  const { ownerReferences, namespace } = object.metadata;
  return (
    ownerReferences.length > 0 &&
    ownerReferences.every((ref) => {
      const owner =
        store.get(ref.kind, namespace, ref.name) ?? store.get(ref.kind, undefined, ref.name);
      return owner?.metadata.uid !== ref.uid || (isDeleting(owner) && ref.kind === 'NodePool');
    })
  );
}

/** The pod is gone at once: nobody is there to stop it. */
export function removePod(store: ObjectStore, pod: KubeObject): void {
  const released = store.update(pod, (latest) => ({
    ...latest,
    metadata: {
      ...latest.metadata,
      finalizers: latest.metadata.finalizers.filter((each) => each !== KUBELET),
    },
  }));
  if (released !== undefined) store.delete(released);
}
