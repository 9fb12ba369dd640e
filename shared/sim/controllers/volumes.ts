import { textAt } from '../json.ts';
import { isDeleting, withSpec, withStatus } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';

const BOUND = 'pv.kubernetes.io/bind-completed';

function isFreeFor(volume: KubeObject, { metadata }: KubeObject): boolean {
  const name = textAt(volume, 'spec', 'claimRef', 'name');
  if (name === undefined) return true;
  const namespace = textAt(volume, 'spec', 'claimRef', 'namespace') ?? 'default';
  return name === metadata.name && namespace === metadata.namespace;
}

/** Binds a claim to the volume that it names, as the volume controller does. */
export function bindNamedVolume(store: ObjectStore, claim: KubeObject): void {
  const { name, namespace, uid, annotations } = claim.metadata;
  const volumeName = textAt(claim, 'spec', 'volumeName') ?? '';
  if (volumeName === '' || annotations[BOUND] !== undefined || isDeleting(claim)) return;
  const volume = store.get('PersistentVolume', undefined, volumeName);
  if (volume === undefined || !isFreeFor(volume, claim)) return;
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid };
  store.update(volume, (latest) => withStatus(withSpec(latest, { claimRef }), { phase: 'Bound' }));
  store.update(claim, (latest) => {
    const { metadata } = latest;
    const bound = { ...metadata, annotations: { ...metadata.annotations, [BOUND]: 'yes' } };
    return withStatus({ ...latest, metadata: bound }, { phase: 'Bound' });
  });
}
