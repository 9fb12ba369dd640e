import {
  encodeCapacityBufferStatus,
  encodeNodeClaim,
  encodeNodeClaimStatus,
  encodeNodeClassStatus,
  encodeTaint,
} from '../api/encode.ts';
import { deploymentFault } from '../api/kubernetes/deployment.ts';
import { apiVersion, RESOURCES } from '../api/resources.ts';
import type { MeteredUsage } from '../core/disruption/consolidation/usage-guard.ts';
import type { Condition } from '../core/model/cluster.ts';
import type { NodeClassStatus } from '../core/model/node-class.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { Taint } from '../core/model/taint.ts';
import { formatResources } from '../core/quantity.ts';
import type {
  CapacityBufferStatusPatch,
  ClaimsState,
  ClusterEvent,
  ClusterReader,
  ClusterState,
  ClusterWriter,
  MetadataPatch,
  NewNodeClaim,
  NodeClaimStatusPatch,
  NodePatch,
  NodePoolNotes,
  NodePoolStatusPatch,
  NodeState,
  ObjectRef,
  ReplicaSetRef,
  RestartResult,
  WaitingPodListener,
  WaitingPodStream,
  WriteResult,
  WrittenClaim,
} from '../ports.ts';
import { mayEvict } from './controllers/budgets.ts';
import { deletePod } from './controllers/workloads.ts';
import {
  conditionsOf,
  decodeNodeClaimObject,
  decodeNodeObject,
  decodePodObject,
  readState,
} from './decode.ts';
import { numberAt, objectAt, textAt } from './json.ts';
import { conditionStatus, isDeleting, withConditions, withSpec, withStatus } from './objects.ts';
import type { KubeObject, ObjectMeta, ObjectStore, StoreChange } from './store.ts';

/** What `kubectl rollout restart` writes. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

function sameTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  const text = (taints: readonly Taint[]): string =>
    taints
      .map(({ key, value, effect }) => [key, value, effect].join(' '))
      .sort()
      .join();
  return text(a) === text(b);
}

/** The API server, as the use cases see it through their ports. */
export class SimulatedCluster implements ClusterReader, ClusterWriter {
  private readonly store: ObjectStore;
  private readonly onEvent: (event: ClusterEvent) => void;
  private readonly onEvict: (pod: KubeObject) => void;
  private readonly onDelete: (pod: KubeObject, graceSeconds: number) => void;
  private readonly said = new Set<string>();

  constructor(
    store: ObjectStore,
    on: {
      readonly event: (event: ClusterEvent) => void;
      readonly evict: (pod: KubeObject) => void;
      readonly delete: (pod: KubeObject, graceSeconds: number) => void;
    },
  ) {
    this.store = store;
    this.onEvent = on.event;
    this.onEvict = on.evict;
    this.onDelete = on.delete;
  }

  async read(): Promise<ClusterState> {
    return readState(this.store);
  }

  /** Karpenter does not run beside it. */
  async karpenterRenewedAtMs(): Promise<undefined> {
    return undefined;
  }

  async pausedUntilMs(): Promise<ClusterState['pausedUntilMs']> {
    return (await this.read()).pausedUntilMs;
  }

  async readClaims(labelKey?: string): Promise<ClaimsState> {
    const { objects, karpenterRenewedAtMs } = await this.read();
    const isWanted = ({ labels }: NodeClaim): boolean =>
      labelKey === undefined || labels[labelKey] !== undefined;
    return { nodeClaims: objects.nodeClaims.filter(isWanted), karpenterRenewedAtMs };
  }

  async readNode(name: string): Promise<NodeState> {
    const node = this.store.get('Node', undefined, name);
    return {
      node: node && decodeNodeObject(node),
      pods: this.store.podsOn(name).map(decodePodObject),
    };
  }

  async readNodePoolNotes(name: string): Promise<NodePoolNotes | undefined> {
    const metadata = this.store.get('NodePool', undefined, name)?.metadata;
    if (metadata === undefined) return undefined;
    const { uid, resourceVersion, annotations } = metadata;
    return { uid, resourceVersion, annotations };
  }

  async followWaitingPods(
    listener: WaitingPodListener,
    signal: AbortSignal,
  ): Promise<WaitingPodStream> {
    const waiting = new Set<string>();
    const isWaiting = (pod: KubeObject): boolean => textAt(pod, 'spec', 'nodeName') === undefined;
    for (const pod of this.store.list('Pod')) if (isWaiting(pod)) waiting.add(pod.metadata.uid);
    const listen = ({ kind, object }: StoreChange): void => {
      const { uid } = object.metadata;
      if (object.kind !== 'Pod') return;
      const isOver = kind === 'removed' || !isWaiting(object);
      if (isOver && !waiting.delete(uid)) return;
      if (!isOver) waiting.add(uid);
      listener.onChange({
        uid,
        nominatedNodeName: textAt(object, 'status', 'nominatedNodeName'),
        nodeName: textAt(object, 'spec', 'nodeName'),
        isOver,
      });
    };
    this.store.onChange(listen, signal);
    signal.addEventListener('abort', () => listener.onEnd(), { once: true });
    const order = async (): Promise<readonly string[]> =>
      this.store
        .list('Pod')
        .filter(isWaiting)
        .map(({ metadata }) => metadata)
        .sort((a, b) => Number(a.resourceVersion) - Number(b.resourceVersion))
        .map(({ uid }) => uid);
    return { rest: async () => undefined, order };
  }

  /** Nobody meters here: pods count as they request. */
  async podUsage(): Promise<MeteredUsage> {
    return { kind: 'metered', pods: new Map() };
  }

  async wantedPods(sets: readonly ReplicaSetRef[]): Promise<ReadonlyMap<string, number>> {
    const wanted = sets.flatMap(({ namespace, name, uid }) => {
      const set = this.store.get('ReplicaSet', namespace, name);
      if (set === undefined || set.metadata.uid !== uid || isDeleting(set)) return [];
      if (conditionStatus(set, 'ReplicaFailure') === 'True') return [];
      return [[uid, numberAt(set, 'spec', 'replicas') ?? 1] as const];
    });
    return new Map(wanted);
  }

  async createNodeClaim(claim: NewNodeClaim): Promise<WrittenClaim> {
    const created = this.store.create({
      apiVersion: apiVersion(RESOURCES.nodeClaims),
      kind: 'NodeClaim',
      ...encodeNodeClaim(claim),
    });
    const object = created ?? this.store.get('NodeClaim', undefined, claim.name);
    if (object === undefined) throw new Error(`NodeClaim ${claim.name} could not be created`);
    const result = created === undefined ? 'exists' : 'done';
    const { resourceVersion } = object.metadata;
    return { result, claim: decodeNodeClaimObject(object), resourceVersion };
  }

  async patchNodeClaim(ref: ObjectRef, patch: MetadataPatch): Promise<WriteResult> {
    if (isRefused(this.find(ref), patch)) return 'conflict';
    return this.write(ref, (object) => withMetadata(object, patch));
  }

  async patchNodeClaimStatus(ref: ObjectRef, patch: NodeClaimStatusPatch): Promise<WriteResult> {
    const fields = encodeNodeClaimStatus(patch);
    const { conditions } = patch;
    return this.write(ref, (object) =>
      conditions === undefined
        ? withStatus(object, fields)
        : withConditions(object, conditions(conditionsOf(object)), fields),
    );
  }

  async patchNodePool(ref: ObjectRef, patch: MetadataPatch): Promise<WriteResult> {
    return this.write(ref, (object) => withMetadata(object, patch));
  }

  async patchNodePoolStatus(ref: ObjectRef, patch: NodePoolStatusPatch): Promise<WriteResult> {
    return this.write(ref, (object) =>
      withConditions(object, patch.conditions(conditionsOf(object)), {
        nodes: patch.nodes,
        resources: formatResources(patch.resources),
      }),
    );
  }

  async patchNodeOverlayStatus(
    ref: ObjectRef,
    conditions: readonly Condition[],
  ): Promise<WriteResult> {
    return this.write(ref, (object) => withConditions(object, conditions));
  }

  async patchNodeClass(ref: ObjectRef, patch: MetadataPatch): Promise<WriteResult> {
    return this.write(ref, (object) => withMetadata(object, patch));
  }

  async patchNodeClassStatus(ref: ObjectRef, status: NodeClassStatus): Promise<WriteResult> {
    return this.write(ref, (object) =>
      withConditions(object, status.conditions, encodeNodeClassStatus(status)),
    );
  }

  async patchCapacityBufferStatus(
    ref: ObjectRef,
    status: CapacityBufferStatusPatch,
  ): Promise<WriteResult> {
    return this.write(ref, (object) =>
      withConditions(object, status.conditions, encodeCapacityBufferStatus(status)),
    );
  }

  async patchNode(ref: ObjectRef, patch: NodePatch): Promise<WriteResult> {
    const { taintsBefore } = patch;
    if (isRefused(this.find(ref), patch)) return 'conflict';
    const now = (await this.readNode(ref.name)).node?.taints;
    if (taintsBefore !== undefined && now !== undefined && !sameTaints(now, taintsBefore)) {
      return 'conflict';
    }
    return this.write(ref, (object) => {
      const named = withMetadata(object, patch);
      const { owner, taints } = patch;
      const owned = owner === undefined ? named : withOwner(named, owner);
      return taints === undefined ? owned : withSpec(owned, { taints: taints.map(encodeTaint) });
    });
  }

  async delete(ref: ObjectRef): Promise<WriteResult> {
    const object = this.find(ref);
    if (object === undefined) return 'gone';
    this.store.delete(object);
    return 'done';
  }

  async nominate(ref: ObjectRef, nominatedNodeName: string): Promise<'done' | 'gone'> {
    const pod = this.find(ref);
    if (pod === undefined || textAt(pod, 'spec', 'nodeName') !== undefined) return 'gone';
    this.store.update(pod, (latest) => withStatus(latest, { nominatedNodeName }));
    return 'done';
  }

  async evict(ref: ObjectRef): Promise<'done' | 'gone' | 'blocked'> {
    const pod = this.find(ref);
    if (pod === undefined) return 'gone';
    if (!mayEvict(this.store, pod)) return 'blocked';
    this.onEvict(pod);
    deletePod(this.store, pod);
    return 'done';
  }

  async restartRollout(
    { namespace, name, uid }: ReplicaSetRef,
    { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
  ): Promise<RestartResult> {
    const set = this.store.get('ReplicaSet', namespace, name);
    const owner = set?.metadata.ownerReferences.find(({ kind }) => kind === 'Deployment');
    const deployment = owner && this.store.get('Deployment', namespace, owner.name);
    if (deployment === undefined || set?.metadata.uid !== uid) return 'none';
    const fault = deploymentFault(deployment, { namespace, name: deployment.metadata.name });
    if (fault !== undefined) return { fault };
    const path = ['spec', 'template', 'metadata', 'annotations', RESTARTED_AT] as const;
    const last = textAt(deployment, ...path);
    if (Date.parse(last ?? '') >= sinceMs || last !== textAt(set, ...path)) return 'restarting';
    this.store.update(deployment, (latest) => {
      const template = objectAt(latest, 'spec', 'template');
      const metadata = objectAt(template, 'metadata');
      const restarted = { [RESTARTED_AT]: new Date(Math.max(sinceMs, nowMs)).toISOString() };
      const annotations = { ...objectAt(metadata, 'annotations'), ...restarted };
      const changed = { ...template, metadata: { ...metadata, annotations } };
      return { ...latest, spec: { ...objectAt(latest, 'spec'), template: changed } };
    });
    return 'restarted';
  }

  async deletePod(ref: ObjectRef, gracePeriodSeconds: number): Promise<WriteResult> {
    const pod = this.find(ref);
    if (pod === undefined) return 'gone';
    if (!isDeleting(pod)) this.onDelete(pod, gracePeriodSeconds);
    deletePod(this.store, pod, gracePeriodSeconds);
    return 'done';
  }

  async event(event: ClusterEvent): Promise<void> {
    const { kind, namespace = '', name } = event.regarding;
    const key = [kind, namespace, name, event.reason, event.message].join('|');
    if (this.said.has(key)) return;
    this.said.add(key);
    this.onEvent(event);
  }

  private find({ kind, namespace, name, uid }: ObjectRef): KubeObject | undefined {
    const object = this.store.get(kind, namespace, name);
    return uid !== undefined && object?.metadata.uid !== uid ? undefined : object;
  }

  private write(ref: ObjectRef, change: (object: KubeObject) => KubeObject): WriteResult {
    const object = this.find(ref);
    if (object === undefined) return 'gone';
    const { resourceVersion } = object.metadata;
    if (ref.resourceVersion !== undefined && ref.resourceVersion !== resourceVersion) {
      return 'conflict';
    }
    this.store.update(object, change);
    return 'done';
  }
}

/** An object that is being deleted takes no new finalizers. */
function isRefused(object: KubeObject | undefined, { addFinalizer }: MetadataPatch): boolean {
  if (object === undefined || addFinalizer === undefined || !isDeleting(object)) return false;
  return !object.metadata.finalizers.includes(addFinalizer);
}

function merged(
  before: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>> | undefined,
): Readonly<Record<string, string>> {
  const after = { ...before };
  for (const [key, value] of Object.entries(patch ?? {})) {
    if (value === null) delete after[key];
    else after[key] = value;
  }
  return after;
}

function withMetadata(object: KubeObject, patch: MetadataPatch): KubeObject {
  const { metadata } = object;
  const { addFinalizer, removeFinalizer } = patch;
  const kept = metadata.finalizers.filter((each) => each !== removeFinalizer);
  const finalizers =
    addFinalizer === undefined || kept.includes(addFinalizer) ? kept : [...kept, addFinalizer];
  const changed: ObjectMeta = {
    ...metadata,
    labels: merged(metadata.labels, patch.labels),
    annotations: merged(metadata.annotations, patch.annotations),
    finalizers,
  };
  return { ...object, metadata: changed };
}

function withOwner(
  object: KubeObject,
  owner: { readonly kind: string; readonly name: string; readonly uid: string },
): KubeObject {
  const { ownerReferences } = object.metadata;
  if (ownerReferences.some((each) => each.uid === owner.uid)) return object;
  const owned = { apiVersion: 'karpenter.sh/v1', ...owner, blockOwnerDeletion: true };
  const references = [...ownerReferences, owned];
  return { ...object, metadata: { ...object.metadata, ownerReferences: references } };
}
