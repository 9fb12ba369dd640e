import { type Json, listAt, textAt, valueAt } from '../json.ts';
import { isDeleting, withSpec, withStatus } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';

const BOUND = 'pv.kubernetes.io/bind-completed';
const IS_DEFAULT = 'storageclass.kubernetes.io/is-default-class';
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

function isFreeFor(volume: KubeObject, { metadata }: KubeObject): boolean {
  const name = textAt(volume, 'spec', 'claimRef', 'name');
  if (name === undefined) return true;
  const namespace = textAt(volume, 'spec', 'claimRef', 'namespace') ?? 'default';
  return name === metadata.name && namespace === metadata.namespace;
}

/** Binds a claim to the volume that it names, as the volume controller does. */
function bindNamedVolume(store: ObjectStore, claim: KubeObject): void {
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

function isBound({ metadata, spec }: KubeObject): boolean {
  const volumeName = textAt(spec, 'volumeName') ?? '';
  return volumeName !== '' || metadata.annotations[BOUND] !== undefined;
}

/**
 * The class that a claim gets which names none: of several defaults the newest, then the first by
 * name. https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
 */
function defaultClass(store: ObjectStore): KubeObject | undefined {
  return store
    .list('StorageClass')
    .filter(({ metadata }) => metadata.annotations[IS_DEFAULT] === 'true')
    .toSorted((a, b) => {
      const [first, second] = [a, b].map(({ metadata }) => metadata.creationTimestamp);
      if (first !== second) return String(first) > String(second) ? -1 : 1;
      return a.metadata.name < b.metadata.name ? -1 : 1;
    })
    .at(0);
}

/** Also a claim that was there before the class: Kubernetes gives it one later. */
function assignClass(store: ObjectStore, claim: KubeObject): KubeObject {
  const { metadata, spec } = claim;
  const isNamed = valueAt(spec, 'storageClassName') !== undefined;
  if (isNamed || metadata.annotations[BETA_CLASS] !== undefined || isBound(claim)) return claim;
  const found = defaultClass(store);
  if (found === undefined) return claim;
  const storageClassName = found.metadata.name;
  store.update(claim, (latest) => withSpec(latest, { storageClassName }));
  return store.get(claim.kind, metadata.namespace, metadata.name) ?? claim;
}

/**
 * A class that does not wait for a pod has its volume at once. Where the class names no topology
 * the driver chooses a zone by nodes that there are not yet: here the volume may be used in any.
 */
function provisionAtOnce(store: ObjectStore, claim: KubeObject): void {
  const { metadata, spec } = claim;
  if (isBound(claim) || isDeleting(claim)) return;
  const name = metadata.annotations[BETA_CLASS] ?? textAt(spec, 'storageClassName') ?? '';
  const storage = store.get('StorageClass', undefined, name);
  const driver = storage && textAt(storage, 'provisioner');
  if (storage === undefined || driver === undefined || driver === NO_PROVISIONER) return;
  if ((textAt(storage, 'volumeBindingMode') ?? 'Immediate') !== 'Immediate') return;
  const volumeName = `pvc-${metadata.uid}`;
  const terms = valueAt(storage, 'allowedTopologies');
  store.create({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName },
    spec: {
      csi: { driver, volumeHandle: volumeName },
      ...(Array.isArray(terms) && terms.length > 0 ? nodeAffinityOf(terms) : {}),
    },
  });
  store.update(claim, (latest) => withSpec(latest, { volumeName }));
}

function nodeAffinityOf(topologies: readonly unknown[]): Json {
  const nodeSelectorTerms = topologies.map((each) => ({
    matchExpressions: listAt(each, 'matchLabelExpressions').map((expression) => ({
      key: textAt(expression, 'key'),
      operator: 'In',
      values: valueAt(expression, 'values'),
    })),
  }));
  return { nodeAffinity: { required: { nodeSelectorTerms } } };
}

/** What the volume controller and the driver's provisioner do for a claim before a pod uses it. */
export function reconcileClaim(store: ObjectStore, found: KubeObject): void {
  const claim = assignClass(store, found);
  provisionAtOnce(store, claim);
  bindNamedVolume(
    store,
    store.get(claim.kind, claim.metadata.namespace, claim.metadata.name) ?? claim,
  );
}
