import { driverOfProvisioner } from '../../api/kubernetes/in-tree-volumes.ts';
import { claimNameOf, type Pod } from '../../core/model/pod.ts';
import { parseQuantity } from '../../core/quantity.ts';
import { type Json, listAt, textAt, valueAt } from '../json.ts';
import { isDeleting, withSpec, withStatus } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';
import { zoneOfVolume, zoneTerms } from '../volume-zones.ts';

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
function assignClass(store: ObjectStore, claim: KubeObject): void {
  const { metadata, spec } = claim;
  const isNamed = valueAt(spec, 'storageClassName') !== undefined;
  if (isNamed || metadata.annotations[BETA_CLASS] !== undefined || isBound(claim)) return;
  const storageClassName = defaultClass(store)?.metadata.name;
  if (storageClassName === undefined) return;
  store.update(claim, (latest) => withSpec(latest, { storageClassName }));
}

function storageOf(object: KubeObject, ...path: readonly string[]): number {
  const said = textAt(object, 'spec', ...path, 'storage') ?? '';
  return parseQuantity(said, 'storage') ?? 0;
}

function modesOf(object: KubeObject): readonly unknown[] {
  return listAt(object, 'spec', 'accessModes');
}

/**
 * The smallest volume that is there and free for a claim that does not wait for its pod: of the
 * class that it names, with the access modes and the room that it asks for.
 */
function chooseVolume(store: ObjectStore, claim: KubeObject): void {
  const className = textAt(claim, 'spec', 'storageClassName');
  if (className === undefined || isBound(claim) || isDeleting(claim)) return;
  const storage = store.get('StorageClass', undefined, className);
  if (storage !== undefined && waitsForConsumer(storage)) return;
  const [wanted, modes] = [storageOf(claim, 'resources', 'requests'), modesOf(claim)];
  const [found] = store
    .list('PersistentVolume')
    .filter((each) => (textAt(each, 'spec', 'storageClassName') ?? '') === className)
    .filter((each) => isFreeFor(each, claim) && storageOf(each, 'capacity') >= wanted)
    .filter((each) => modes.every((mode) => modesOf(each).includes(mode)))
    .toSorted((a, b) => storageOf(a, 'capacity') - storageOf(b, 'capacity'));
  if (found === undefined) return;
  store.update(claim, (latest) => withSpec(latest, { volumeName: found.metadata.name }));
}

/** The class by which the claim is to get a volume, where a driver makes volumes of it. */
function classToProvision(store: ObjectStore, claim: KubeObject): KubeObject | undefined {
  const { metadata, spec } = claim;
  if (isBound(claim) || isDeleting(claim)) return undefined;
  const name = metadata.annotations[BETA_CLASS] ?? textAt(spec, 'storageClassName') ?? '';
  const storage = store.get('StorageClass', undefined, name);
  const driver = storage && textAt(storage, 'provisioner');
  return driver === undefined || driver === NO_PROVISIONER ? undefined : storage;
}

function waitsForConsumer(storage: KubeObject): boolean {
  return textAt(storage, 'volumeBindingMode') === 'WaitForFirstConsumer';
}

/** A new volume of the class, that nodes may use to which one of the terms applies. */
function provision(
  store: ObjectStore,
  claim: KubeObject,
  storage: KubeObject,
  nodeSelectorTerms: readonly Json[],
): void {
  const volumeName = `pvc-${claim.metadata.uid}`;
  const driver = driverOfProvisioner(textAt(storage, 'provisioner') ?? '');
  store.create({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName },
    spec: {
      storageClassName: storage.metadata.name,
      csi: { driver, volumeHandle: volumeName },
      ...(nodeSelectorTerms.length === 0
        ? {}
        : { nodeAffinity: { required: { nodeSelectorTerms } } }),
    },
  });
  store.update(claim, (latest) => withSpec(latest, { volumeName }));
}

/**
 * A class that does not wait for a pod has its volume at once. Where the class names no topology
 * the driver chooses a zone by nodes that there are not yet: here the volume may be used in any.
 */
function provisionAtOnce(store: ObjectStore, claim: KubeObject): void {
  const storage = classToProvision(store, claim);
  if (storage === undefined || waitsForConsumer(storage)) return;
  provision(store, claim, storage, allowedTerms(storage));
}

/**
 * Makes the volumes of the pod's claims that have waited for it, as the driver does when
 * kube-scheduler has chosen the node: one of EBS in the node's zone.
 */
export function provisionForConsumer(store: ObjectStore, pod: Pod, node: string): void {
  const labels = store.get('Node', undefined, node)?.metadata.labels ?? {};
  for (const volume of pod.spec.volumes) {
    if (volume.kind === 'attached') continue;
    const claim = store.get('PersistentVolumeClaim', pod.namespace, claimNameOf(pod, volume));
    const storage = claim && classToProvision(store, claim);
    if (claim === undefined || storage === undefined || !waitsForConsumer(storage)) continue;
    const zone = zoneOfVolume(textAt(storage, 'provisioner') ?? '', labels);
    provision(store, claim, storage, zone === undefined ? allowedTerms(storage) : zoneTerms(zone));
    reconcileClaim(store, claim);
  }
}

/** The class's `allowedTopologies` as terms of a node selector. */
function allowedTerms(storage: KubeObject): readonly Json[] {
  return listAt(storage, 'allowedTopologies').map((each) => ({
    matchExpressions: listAt(each, 'matchLabelExpressions').map((expression) => ({
      key: textAt(expression, 'key'),
      operator: 'In',
      values: valueAt(expression, 'values'),
    })),
  }));
}

/** What the volume controller and the driver's provisioner do for a claim before a pod uses it. */
export function reconcileClaim(store: ObjectStore, found: KubeObject): void {
  const { kind, metadata } = found;
  const steps = [assignClass, chooseVolume, provisionAtOnce, bindNamedVolume];
  for (const step of steps) {
    step(store, store.get(kind, metadata.namespace, metadata.name) ?? found);
  }
}
