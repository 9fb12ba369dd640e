import { NAME_LETTERS } from '../../app/writes/claim-names.ts';
import { admittedPod, type PodWebhook } from '../admission.ts';
import { type Json, listAt, numberAt, objectAt, textAt, textsAt } from '../json.ts';
import {
  conditionStatus,
  controlledBy,
  isDeleting,
  isOver,
  setCondition,
  withStatus,
} from '../objects.ts';
import type { Prng } from '../prng.ts';
import { KUBELET, type KubeObject, type ObjectStore } from '../store.ts';
import { isWithinQuotas } from './quotas.ts';
import type { Retries } from './retries.ts';

/** What the controllers share. */
export interface ControllerContext {
  readonly store: ObjectStore;
  /** Names of pods. */
  readonly names: Prng;
  /** What changes new pods beside the API server's own plugins. */
  readonly webhooks: readonly PodWebhook[];
  /** Owners whose pods the API server has refused. */
  readonly retries: Retries;
}

export function ownedBy(owner: KubeObject): Json {
  const { kind, apiVersion, metadata } = owner;
  const { name, uid } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** A pod of the owner's template. */
function podOf(owner: KubeObject, name: string, labels: Json = {}, spec: Json = {}): Json {
  const template = objectAt(owner, 'spec', 'template');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: owner.metadata.namespace,
      labels: { ...textsAt(template, 'metadata', 'labels'), ...labels },
      annotations: textsAt(template, 'metadata', 'annotations'),
      ownerReferences: [ownedBy(owner)],
    },
    spec: { ...objectAt(template, 'spec'), ...spec },
    status: { phase: 'Pending' },
  };
}

/** False: the API server refuses it, and its owner is to try again. */
function createPod({ store, webhooks }: ControllerContext, pod: Json): boolean {
  const admitted = admittedPod(store, pod, webhooks);
  if (!isWithinQuotas(store, admitted)) return false;
  store.create(admitted);
  return true;
}

/** Creates so many pods, up to the first that is refused; returns how many. */
export function createPods(
  context: ControllerContext,
  owner: KubeObject,
  count: number,
  labels: Json = {},
): number {
  const { names, retries } = context;
  for (let made = 0; made < count; made += 1) {
    const name = `${owner.metadata.name}-${names.text(NAME_LETTERS, 5)}`;
    if (createPod(context, podOf(owner, name, labels))) continue;
    retries.add(owner);
    return made;
  }
  retries.forget(owner);
  return Math.max(0, count);
}

/** A stopped pod at once, a running one when its kubelet has stopped it. */
export function deletePod(store: ObjectStore, pod: KubeObject, graceSeconds?: number): void {
  if (isDeleting(pod)) return;
  const isBound = textAt(pod, 'spec', 'nodeName') !== undefined && !isOver(pod);
  const declared = numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30;
  const grace = graceSeconds ?? declared;
  store.delete(pod, isBound ? Math.max(1, grace) * 1000 : 0);
}

function isReady(pod: KubeObject): boolean {
  return conditionStatus(pod, 'Ready') === 'True' && !isDeleting(pod);
}

export function replicasOf(object: KubeObject): number {
  return numberAt(object, 'spec', 'replicas') ?? 1;
}

/** Pending pods go before running ones, younger before older: as the ReplicaSet controller does. */
function byExpendability(a: KubeObject, b: KubeObject): number {
  const bound = (pod: KubeObject): number =>
    textAt(pod, 'spec', 'nodeName') === undefined ? 0 : 1;
  const ready = (pod: KubeObject): number => (isReady(pod) ? 1 : 0);
  const [x, y] = [a.metadata, b.metadata];
  return (
    bound(a) - bound(b) ||
    ready(a) - ready(b) ||
    (x.creationTimestamp < y.creationTimestamp
      ? 1
      : x.creationTimestamp > y.creationTimestamp
        ? -1
        : 0) ||
    (x.name < y.name ? -1 : 1)
  );
}

export function reconcileReplicaSet(context: ControllerContext, set: KubeObject): void {
  const { store } = context;
  if (isDeleting(set)) return;
  const pods = controlledBy(store, 'Pod', set);
  const active = pods.filter((pod) => !isDeleting(pod) && !isOver(pod));
  const wanted = replicasOf(set);
  const made = createPods(context, set, wanted - active.length);
  const surplus = [...active].sort(byExpendability).slice(0, Math.max(0, active.length - wanted));
  for (const pod of surplus) deletePod(store, pod);
  const readyReplicas = active.filter(isReady).length;
  const replicas = active.length + made - surplus.length;
  const isRefused = made < wanted - active.length;
  store.update(set, (latest) =>
    withFailure(withStatus(latest, { replicas, readyReplicas }), isRefused),
  );
}

/** Says that the last pod was refused, for as long as it is. */
function withFailure(set: KubeObject, isRefused: boolean): KubeObject {
  const type = 'ReplicaFailure';
  if (isRefused) {
    const failure = { type, status: 'True', reason: 'FailedCreate' };
    return setCondition(set, failure, set.metadata.creationTimestamp);
  }
  if (conditionStatus(set, type) === undefined) return set;
  const conditions = listAt(set, 'status', 'conditions');
  return withStatus(set, {
    conditions: conditions.filter((each) => textAt(each, 'type') !== type),
  });
}

/** Pods `name-0`, `name-1` …, all at once (podManagementPolicy is not waited for). */
export function reconcileStatefulSet(context: ControllerContext, set: KubeObject): void {
  const { store } = context;
  if (isDeleting(set)) return;
  const wanted = replicasOf(set);
  const pods = controlledBy(store, 'Pod', set);
  const ordinal = (pod: KubeObject): number => Number(pod.metadata.name.split('-').at(-1));
  for (const pod of pods) {
    if (isOver(pod) && !isDeleting(pod)) store.delete(pod);
    else if (ordinal(pod) >= wanted) deletePod(store, pod);
  }
  for (let index = 0; index < wanted; index += 1) {
    const name = `${set.metadata.name}-${index}`;
    const volumes = claimTemplates(store, set, name);
    const own = listAt(set, 'spec', 'template', 'spec', 'volumes');
    const labels = {
      'apps.kubernetes.io/pod-index': String(index),
      'statefulset.kubernetes.io/pod-name': name,
    };
    const spec = volumes.length === 0 ? {} : { volumes: [...own, ...volumes] };
    const isThere = store.get('Pod', set.metadata.namespace, name) !== undefined;
    if (!isThere) createPod(context, podOf(set, name, labels, spec));
  }
  const readyReplicas = pods.filter(isReady).length;
  store.update(set, (latest) => withStatus(latest, { replicas: wanted, readyReplicas }));
}

/** The claims of a StatefulSet's pod, made where missing, as volumes of the pod. */
function claimTemplates(store: ObjectStore, set: KubeObject, pod: string): readonly Json[] {
  return listAt(set, 'spec', 'volumeClaimTemplates').flatMap((template) => {
    const volume = textAt(template, 'metadata', 'name');
    if (volume === undefined) return [];
    const claimName = `${volume}-${pod}`;
    store.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        ...objectAt(template, 'metadata'),
        name: claimName,
        namespace: set.metadata.namespace,
      },
      spec: objectAt(template, 'spec'),
      status: { phase: 'Pending' },
    });
    return [{ name: volume, persistentVolumeClaim: { claimName } }];
  });
}

/** Which of the DaemonSet's templates a pod was made from: here, which version of its spec. */
const GENERATION = 'pod-template-generation';

/** One pod on every node that `fits`; kube-scheduler binds it there by its node affinity. */
export function reconcileDaemonSet(
  context: ControllerContext,
  set: KubeObject,
  nodes: readonly KubeObject[],
  fits: (set: KubeObject, node: KubeObject) => boolean,
): void {
  if (isDeleting(set)) return;
  const { store, names } = context;
  const pods = controlledBy(store, 'Pod', set).filter((pod) => !isOver(pod));
  const byNode = new Map(pods.map((pod) => [daemonNode(pod), pod]));
  const generation = String(set.metadata.generation);
  for (const node of nodes) {
    const { name } = node.metadata;
    const pod = byNode.get(name);
    // A rolling update; how many pods may be missing at once is not looked at.
    if (pod !== undefined && pod.metadata.labels[GENERATION] !== generation) deletePod(store, pod);
    if (pod !== undefined || isDeleting(node) || !fits(set, node)) continue;
    const fresh = `${set.metadata.name}-${names.text(NAME_LETTERS, 5)}`;
    const made = podOf(set, fresh, { [GENERATION]: generation }, daemonSpec(set, name));
    if (!createPod(context, made)) context.retries.add(set);
  }
  const known = new Map(nodes.map((node) => [node.metadata.name, node]));
  for (const [name, pod] of byNode) {
    if (known.has(name)) continue;
    // Its node is gone, and its kubelet with it: nobody is left to stop the pod.
    store.update(pod, (latest) => ({
      ...latest,
      metadata: {
        ...latest.metadata,
        finalizers: latest.metadata.finalizers.filter((each) => each !== KUBELET),
      },
    }));
    store.delete(pod);
  }
}

/** Read once for each version of a pod. */
const daemonNodes = new WeakMap<KubeObject, string>();

/** The node that a DaemonSet's pod was made for. */
function daemonNode(pod: KubeObject): string {
  const known = daemonNodes.get(pod);
  if (known !== undefined) return known;
  const node = readDaemonNode(pod);
  daemonNodes.set(pod, node);
  return node;
}

function readDaemonNode(pod: KubeObject): string {
  const terms = listAt(
    pod,
    'spec',
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
    'nodeSelectorTerms',
  );
  const value = listAt(listAt(terms[0], 'matchFields')[0], 'values')[0];
  return typeof value === 'string' ? value : (textAt(pod, 'spec', 'nodeName') ?? '');
}

const TOLERATED = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
] as const;

/** What the DaemonSet controller adds to the template: tolerations, and the node as affinity. */
function daemonSpec(set: KubeObject, node: string): Json {
  const spec = objectAt(set, 'spec', 'template', 'spec');
  const added = TOLERATED.map(([key, effect]) => ({ key, operator: 'Exists', effect }));
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const affinity = objectAt(spec, 'affinity');
  const terms = listAt(affinity, 'nodeAffinity', required, 'nodeSelectorTerms');
  const field = { key: 'metadata.name', operator: 'In', values: [node] };
  const bound = (terms.length === 0 ? [{}] : terms).map((term) => ({
    ...objectAt(term),
    matchFields: [field],
  }));
  return {
    tolerations: [...listAt(spec, 'tolerations'), ...added],
    affinity: {
      ...affinity,
      nodeAffinity: {
        ...objectAt(affinity, 'nodeAffinity'),
        [required]: { nodeSelectorTerms: bound },
      },
    },
  };
}
