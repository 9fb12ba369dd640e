import type { MeteredUsage } from '../core/disruption/consolidation/usage-guard.ts';
import type { ReasonCode } from '../core/explain/reason.ts';
import type { Condition, Node } from '../core/model/cluster.ts';
import type { Labels } from '../core/model/labels.ts';
import type { NodeClass, NodeClassStatus } from '../core/model/node-class.ts';
import type { OwnerReference, Pod, PodSpec } from '../core/model/pod.ts';
import type { DurationOrNever, NodeClaim, NodeClassReference } from '../core/model/provisioning.ts';
import type { RequirementExpression } from '../core/model/requirement.ts';
import type { ResourceQuota } from '../core/model/resource-quota.ts';
import type { Resources } from '../core/model/resources.ts';
import type { ClusterSnapshot } from '../core/model/snapshot.ts';
import type { Taint } from '../core/model/taint.ts';

export type ObjectKind =
  | 'NodePool'
  | 'NodeClaim'
  | 'NodeOverlay'
  | 'EC2NodeClass'
  | 'CapacityBuffer'
  | 'Node'
  | 'Pod';

/** Names one object. With a uid the write is refused (`gone`) where another object has the name. */
export interface ObjectRef {
  readonly kind: ObjectKind;
  /** Only of Pods and CapacityBuffers. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  /** With it the write is refused (`conflict`) where the object has changed since. */
  readonly resourceVersion?: string;
}

export interface VolumeAttachment {
  readonly name: string;
  readonly nodeName: string;
  /** Undefined: an inline volume. */
  readonly persistentVolumeName: string | undefined;
}

/** A CapacityBuffer with what its template or workload resolves to now. */
export interface CapacityBuffer {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly provisioningStrategy: string;
  readonly replicas: number | undefined;
  readonly percentage: number | undefined;
  readonly limits: Resources;
  readonly target: BufferTarget;
  /** What it says now, so that only changes are written. */
  readonly status: CapacityBufferStatus;
  readonly conditions: readonly Condition[];
}

/** A CapacityBuffer's status but for its conditions; undefined: it does not say. */
export interface CapacityBufferStatus {
  readonly replicas: number | undefined;
  readonly podTemplate: string | undefined;
  readonly podTemplateGeneration: number | undefined;
  readonly provisioningStrategy: string | undefined;
}

export type BufferTarget =
  | {
      readonly kind: 'resolved';
      readonly podTemplate: string | undefined;
      readonly podTemplateGeneration: number | undefined;
      readonly podLabels: Labels;
      readonly podSpec: PodSpec;
      /** Of the workload; undefined for a PodTemplate. */
      readonly workloadReplicas: number | undefined;
    }
  | {
      readonly kind: 'absent';
      readonly what: 'PodTemplate' | 'ScalableRef';
      readonly name: string;
      /** Why nobody could look for it. Absent: it is not there. */
      readonly refusal?: string;
    };

export type PauseScope = 'launch' | 'disrupt' | 'terminate';

/** The cluster as read at one moment. */
export interface ClusterState {
  /** Instance types come from the {@link Catalog}, per pool. */
  readonly objects: Omit<ClusterSnapshot, 'instanceTypes'>;
  readonly nodeClasses: readonly NodeClass[];
  /** What the statuses say now, so that only changes are written; by name. */
  readonly nodeOverlayConditions: ReadonlyMap<string, readonly Condition[]>;
  /** `status.resources` of the NodePools. */
  readonly nodePoolUsage: ReadonlyMap<string, Resources>;
  readonly capacityBuffers: readonly CapacityBuffer[];
  /** By which CapacityBuffers are bounded; read only while there are any. */
  readonly resourceQuotas: readonly ResourceQuota[];
  readonly volumeAttachments: readonly VolumeAttachment[];
  /** By {@link objectKey}; what a write passes on to be refused when the object has changed. */
  readonly resourceVersions: ReadonlyMap<string, string>;
  /** Brakes of `kube-system/joiner`: until when, in milliseconds since the epoch (Infinity: on). */
  readonly pausedUntilMs: Readonly<Partial<Record<PauseScope, number>>>;
  /** When Karpenter last renewed its leader lease; undefined = never seen. */
  readonly karpenterRenewedAtMs: number | undefined;
}

/** `Kind/name` or `Kind/namespace/name`. */
export function objectKey(ref: ObjectRef): string {
  return [ref.kind, ...(ref.namespace === undefined ? [] : [ref.namespace]), ref.name].join('/');
}

/** What interruptions are judged by: little next to the rest, because a warning cannot wait. */
export interface ClaimsState {
  readonly nodeClaims: readonly NodeClaim[];
  /** As in {@link ClusterState}. */
  readonly karpenterRenewedAtMs: number | undefined;
}

/** What a drain begins with. */
export interface NodeState {
  /** Undefined: there is none of the name. */
  readonly node: Node | undefined;
  /** The pods that are bound to it. */
  readonly pods: readonly Pod[];
}

/** What is noted on a NodePool now, and the version with which a note is written only once. */
export interface NodePoolNotes {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Labels;
}

/** A ReplicaSet as its pods name it. */
export interface ReplicaSetRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What has become of a pod that waits for a node, or did. */
export interface WaitingPod {
  readonly uid: string;
  readonly nominatedNodeName: string | undefined;
  /** The node that it has got. */
  readonly nodeName: string | undefined;
  /** It waits no longer: it has a node by now, or is gone. */
  readonly isOver: boolean;
}

export interface WaitingPodListener {
  onChange(pod: WaitingPod): void;
  /** Nothing more is told: the stream has broken, or the signal was aborted. */
  onEnd(): void;
}

export interface WaitingPodStream {
  /**
   * Resolves when nothing has been told for a moment: kube-scheduler, which writes what comes of
   * each try, rests, and knows what has been told. It tries all waiting pods whenever a node joins.
   * Where it goes on and on, nobody waits for longer than that.
   */
  rest(msMax: number): Promise<void>;
  /** The pods' uids in the order in which they were last written. */
  order(): Promise<readonly string[]>;
}

export interface ClusterReader {
  /** Everything that decisions read, consistent enough: nodes and claims first, pods last. */
  read(): Promise<ClusterState>;
  /** With a key: only claims that have a label of it, which the server looks for. */
  readClaims(labelKey?: string): Promise<ClaimsState>;
  /** One node, without a look at the others. */
  readNode(name: string): Promise<NodeState>;
  /** Of one NodePool, valid or not; undefined: there is none of the name. */
  readNodePoolNotes(name: string): Promise<NodePoolNotes | undefined>;
  /**
   * How many pods ReplicaSets want to have, by uid. Left out: one that is gone, that is being
   * deleted, whose pods are refused (by a quota or an admission webhook), or that cannot be
   * asked for.
   */
  wantedPods(sets: readonly ReplicaSetRef[]): Promise<ReadonlyMap<string, number>>;
  /** What pods use now, by metrics.k8s.io; where that cannot be asked, why not. */
  podUsage(): Promise<MeteredUsage>;
  /**
   * Tells of every pod without a node that changes or gets one, from when the promise resolves
   * until the signal aborts. A stream that breaks is not begun again.
   */
  followWaitingPods(listener: WaitingPodListener, signal: AbortSignal): Promise<WaitingPodStream>;
  /** Whether {@link read} only catches up with what it knows. Absent: it never does. */
  isWarm?(): boolean;
  /** {@link ClusterState.karpenterRenewedAtMs} of this moment, for a look in the middle of a pass. */
  karpenterRenewedAtMs(): Promise<number | undefined>;
  /** {@link ClusterState.pausedUntilMs} likewise. */
  pausedUntilMs(): Promise<ClusterState['pausedUntilMs']>;
}

/** A NodeClaim to create; finalizer and owner reference included. */
export interface NewNodeClaim {
  readonly name: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly finalizers: readonly string[];
  readonly nodePool: { readonly name: string; readonly uid: string } | undefined;
  readonly requirements: readonly RequirementExpression[];
  readonly requests: Resources;
  readonly taints: readonly Taint[];
  readonly startupTaints: readonly Taint[];
  readonly nodeClassRef: NodeClassReference;
  readonly expireAfter: DurationOrNever;
  readonly terminationGracePeriodMs: number | undefined;
}

/** What may change of an object's metadata; null removes a label or an annotation. */
export interface MetadataPatch {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  /**
   * Present and absent ones are not an error; the others stay. An object that is being deleted
   * takes no new one (`conflict`).
   */
  readonly addFinalizer?: string;
  readonly removeFinalizer?: string;
}

export interface NodePatch extends MetadataPatch {
  /** The whole list, as read and changed: pass a resourceVersion or what it was before with it. */
  readonly taints?: readonly Taint[];
  /** Refused (`conflict`) where the node has other taints by now; all else of it may have changed. */
  readonly taintsBefore?: readonly Taint[];
  readonly owner?: OwnerReference;
}

/**
 * What an object's conditions become, given those that it has at the moment of the write: several
 * functions write conditions of a NodeClaim, each its own. Called anew where one came in between.
 */
export type ConditionChange = (now: readonly Condition[]) => readonly Condition[];

/** Fields that are left out stay as they are. */
export interface NodeClaimStatusPatch {
  readonly nodeName?: string;
  readonly providerId?: string;
  readonly imageId?: string;
  readonly capacity?: Resources;
  readonly allocatable?: Resources;
  readonly lastPodEventAtMs?: number;
  readonly conditions?: ConditionChange;
}

export interface NodePoolStatusPatch {
  /** Sum of its nodes' capacity, the pseudo-resource `nodes` included. */
  readonly resources: Resources;
  readonly nodes: number;
  readonly conditions: ConditionChange;
}

export interface CapacityBufferStatusPatch extends CapacityBufferStatus {
  readonly replicas: number;
  readonly provisioningStrategy: string;
  readonly conditions: readonly Condition[];
}

/** `conflict`: the object changed since it was read; `gone`: absent, or another with its name. */
export type WriteResult = 'done' | 'conflict' | 'gone';

export interface ClusterEvent {
  readonly regarding: ObjectRef;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, e.g. `FailedScheduling`. */
  readonly reason: string;
  readonly message: string;
  /** Which reason the message puts in words; absent: none of docs/reasons.md. */
  readonly code?: ReasonCode;
  /** The id of the decision that the event is about. */
  readonly decision?: string;
}

/** A NodeClaim as it was written. */
export interface WrittenClaim {
  /** `exists`: there was one of that name already; it is returned as it is. */
  readonly result: 'done' | 'exists';
  readonly claim: NodeClaim;
  readonly resourceVersion: string;
}

/**
 * What came of asking for a restart of a Deployment; `restarting`: somebody has asked before,
 * `fault`: why it would not start a pod before it ends one.
 */
export type RestartResult = 'restarted' | 'restarting' | 'none' | { readonly fault: string };

export interface ClusterWriter {
  createNodeClaim(claim: NewNodeClaim): Promise<WrittenClaim>;
  patchNodeClaim(ref: ObjectRef, patch: MetadataPatch): Promise<WriteResult>;
  patchNodeClaimStatus(ref: ObjectRef, patch: NodeClaimStatusPatch): Promise<WriteResult>;
  patchNodePool(ref: ObjectRef, patch: MetadataPatch): Promise<WriteResult>;
  patchNodePoolStatus(ref: ObjectRef, patch: NodePoolStatusPatch): Promise<WriteResult>;
  patchNodeOverlayStatus(ref: ObjectRef, conditions: readonly Condition[]): Promise<WriteResult>;
  patchNodeClass(ref: ObjectRef, patch: MetadataPatch): Promise<WriteResult>;
  patchNodeClassStatus(ref: ObjectRef, status: NodeClassStatus): Promise<WriteResult>;
  patchCapacityBufferStatus(
    ref: ObjectRef,
    status: CapacityBufferStatusPatch,
  ): Promise<WriteResult>;
  patchNode(ref: ObjectRef, patch: NodePatch): Promise<WriteResult>;
  /** Deletes a NodeClaim or Node (finalizers hold it); repeated deletes are `done`. */
  delete(ref: ObjectRef): Promise<WriteResult>;
  /**
   * Sets the pod's `status.nominatedNodeName`: kube-scheduler tries that node first and keeps the
   * room there. `gone`: the pod is bound by now, deleted or replaced.
   */
  nominate(pod: ObjectRef, node: string): Promise<'done' | 'gone'>;
  /** Through the eviction API, with the pod's uid; `blocked`: a PodDisruptionBudget refuses. */
  evict(pod: ObjectRef): Promise<'done' | 'gone' | 'blocked'>;
  /**
   * Restarts the Deployment that owns the ReplicaSet, as `kubectl rollout restart` does, unless it
   * was restarted since, or since the ReplicaSet was its newest. The time of it is written as no
   * earlier than that, whichever of two clocks is behind. `none`: no Deployment owns it.
   */
  restartRollout(
    set: ReplicaSetRef,
    times: { readonly sinceMs: number; readonly nowMs: number },
  ): Promise<RestartResult>;
  /** Past every budget: only where a termination deadline demands it. */
  deletePod(pod: ObjectRef, gracePeriodSeconds: number): Promise<WriteResult>;
  /** Best effort; equal events within ten minutes are counted, not repeated. */
  event(event: ClusterEvent): Promise<void>;
}

export interface Lease {
  /**
   * What names of new NodeClaims follow from: of its own for each turn, and the same as in the turn
   * before where that has not released the Lease. What that one still writes late, frozen before a
   * write that it had been free to make, has the name of another by then, and is refused.
   */
  readonly names: string;
  /** Whether it is still ours; asked before every batch of writes. */
  isHeld(): Promise<boolean>;
  /** `woken`: somebody left a wake mark meanwhile; it is still ours, to look at the work again. */
  releaseUnlessWoken(): Promise<'released' | 'woken'>;
  /** Frees it whatever marks there are; whether there was one that {@link releaseUnlessWoken} had not said. */
  release(): Promise<boolean>;
}

export interface Leases {
  /** Undefined: held by another; a wake mark was left on it for the holder. */
  acquire(name: string): Promise<Lease | undefined>;
}
