import { FAKE_POD, HOSTNAME, type Labels } from './labels.ts';
import type { RequirementExpression } from './requirement.ts';
import type { Resources } from './resources.ts';
import type { Toleration } from './taint.ts';

/**
 * What decisions read of a pod's spec. Decoders share one object between pods whose specs read the
 * same, so that comparing references is enough to put them into one class in most cases.
 */
export interface PodSpec {
  /** What kube-scheduler counts: containers, init containers, sidecars, overhead, and `pods: 1`. */
  readonly requests: Resources;
  /** Sum of the containers' limits, for the limits guard only. */
  readonly limits: Resources;
  readonly nodeSelector: Labels;
  /** OR-ed terms; undefined = no constraint. An empty term matches no node. */
  readonly requiredNodeAffinity: readonly NodeSelectorTerm[] | undefined;
  readonly preferredNodeAffinity: readonly Weighted<NodeSelectorTerm>[];
  readonly podAffinity: readonly PodAffinityTerm[];
  readonly podAntiAffinity: readonly PodAffinityTerm[];
  readonly preferredPodAffinity: readonly Weighted<PodAffinityTerm>[];
  readonly preferredPodAntiAffinity: readonly Weighted<PodAffinityTerm>[];
  readonly tolerations: readonly Toleration[];
  readonly topologySpread: readonly TopologySpreadConstraint[];
  readonly hostPorts: readonly HostPort[];
  readonly volumes: readonly PodVolume[];
  /** 0 when absent. */
  readonly priority: number;
  readonly priorityClassName: string | undefined;
  /** Whether pods that matter less may be removed for it; not where its preemptionPolicy is Never. */
  readonly preempts: boolean;
  readonly schedulerName: string;
  readonly hasSchedulingGates: boolean;
  /** Dynamic Resource Allocation: not supported, such a pod is refused with a reason. */
  readonly hasResourceClaims: boolean;
  readonly terminationGracePeriodSeconds: number;
  /**
   * Why not all of it could be read, of pods that are there all the same: what such a pod needs is
   * not known. It is given no node, and its node no other pods.
   */
  readonly unreadable?: string;
}

export interface NodeSelectorTerm {
  readonly matchExpressions: readonly RequirementExpression[];
  /** Only the key `metadata.name` exists. */
  readonly matchFields: readonly RequirementExpression[];
}

/** A preference and what it is worth among a pod's other preferences (1–100). */
export interface Weighted<Term> {
  readonly weight: number;
  readonly term: Term;
}

export interface LabelSelector {
  readonly matchLabels: Labels;
  readonly matchExpressions: readonly RequirementExpression[];
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  /** Undefined selects nothing; an empty selector selects every pod. */
  readonly labelSelector: LabelSelector | undefined;
  readonly namespaces: readonly string[];
  /** Undefined: only `namespaces`, or the pod's own where those are empty. */
  readonly namespaceSelector: LabelSelector | undefined;
  readonly matchLabelKeys: readonly string[];
  readonly mismatchLabelKeys: readonly string[];
}

export interface TopologySpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number | undefined;
  /** DoNotSchedule is a rule, ScheduleAnyway a preference. */
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly labelSelector: LabelSelector | undefined;
  readonly matchLabelKeys: readonly string[];
  readonly nodeAffinityPolicy: 'Honor' | 'Ignore';
  readonly nodeTaintsPolicy: 'Honor' | 'Ignore';
}

export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

/** A volume that is bound to a claim; other kinds of volumes do not matter to scheduling. */
export type PodVolume =
  | { readonly kind: 'claim'; readonly claimName: string }
  | {
      readonly kind: 'ephemeral';
      /** The claim is named `<pod>-<volume>`. */
      readonly volumeName: string;
      readonly storageClassName: string | undefined;
    }
  /** A volume that the pod names itself, attached without a claim. */
  | { readonly kind: 'attached'; readonly driver: string; readonly volume: string };

/** The PersistentVolumeClaim of a pod's volume. */
export function claimNameOf(
  pod: Pick<Pod, 'name'>,
  volume: Exclude<PodVolume, { readonly kind: 'attached' }>,
): string {
  return volume.kind === 'claim' ? volume.claimName : `${pod.name}-${volume.volumeName}`;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** Where a pod does not name another. */
export const DEFAULT_SCHEDULER = 'default-scheduler';

export interface OwnerReference {
  /** Group and version, or the version alone where the group is the core one. */
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` stands in where the object has no uid. */
  readonly uid: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** Milliseconds since the epoch; 0 where unknown. */
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly deletedAtMs: number | undefined;
  /** The grace period of its deletion, where that is not the one of its spec. */
  readonly deletionGraceSeconds?: number;
  readonly spec: PodSpec;
  readonly nodeName: string | undefined;
  readonly nominatedNodeName: string | undefined;
  readonly phase: PodPhase;
  /** kube-scheduler said PodScheduled=False, reason Unschedulable. */
  readonly unschedulable: boolean;
  readonly ready: boolean;
  /** A static pod of the kubelet, mirrored in the API. */
  readonly isMirror: boolean;
  /** The owner that is marked as controller. */
  readonly controller: OwnerReference | undefined;
  /** In plans only: `nodeName` is where it will go; until then kube-scheduler sees room there. */
  readonly isInbound?: boolean;
}

/** A pod that stands for room which a CapacityBuffer asks for: it is in plans only. */
export function isBufferPod({ annotations }: Pod): boolean {
  return annotations[FAKE_POD] === 'true';
}

/** Spreads over more than nodes that kube-scheduler holds to. */
export function hardDomainSpreads({ topologySpread }: PodSpec): PodSpec['topologySpread'] {
  return topologySpread.filter(
    ({ topologyKey, whenUnsatisfiable }) =>
      topologyKey !== HOSTNAME && whenUnsatisfiable === 'DoNotSchedule',
  );
}

/**
 * Whether rules about other pods may forbid all nodes but a few to the pod, depending on where the
 * others are. Where the first of them goes decides for the rest.
 */
export function dependsOnOtherPods(spec: PodSpec): boolean {
  return (
    spec.podAffinity.length > 0 ||
    spec.podAntiAffinity.some(({ topologyKey }) => topologyKey !== HOSTNAME) ||
    hardDomainSpreads(spec).length > 0
  );
}

/** `namespace/name`: how plans and reports name a pod. */
export function podKey(pod: { readonly namespace: string; readonly name: string }): string {
  return `${pod.namespace}/${pod.name}`;
}

/** The same for all pods that selectors of pods cannot tell apart. */
export function alikeText({ namespace, labels }: Pick<Pod, 'namespace' | 'labels'>): string {
  return `${namespace}\n${JSON.stringify(labels)}`;
}

/** Whether the pod has ended: it takes no room on its node, and will not again. */
export function isOver({ phase }: Pick<Pod, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Whether the pod is to go on: it has not ended, and is not being deleted. */
export function isLive(pod: Pick<Pod, 'phase' | 'deletedAtMs'>): boolean {
  return pod.deletedAtMs === undefined && !isOver(pod);
}

/** Whether `a` was made later; of two of the same second their uids decide. */
export function isNewer(a: Pod, b: Pod): boolean {
  return a.createdAtMs === b.createdAtMs ? a.uid > b.uid : a.createdAtMs > b.createdAtMs;
}

/** The pod as one without a node, which kube-scheduler has tried. */
export function asWaiting(pod: Pod): Pod {
  const off = { nodeName: undefined, nominatedNodeName: undefined, unschedulable: true };
  return { ...pod, ...off, phase: 'Pending' };
}

/** When the pod was told to go: its deletion timestamp is the end of the grace period. */
export function toldToGoAtMs(
  { deletionGraceSeconds, spec }: Pick<Pod, 'deletionGraceSeconds' | 'spec'>,
  deletedAtMs: number,
): number {
  return deletedAtMs - (deletionGraceSeconds ?? spec.terminationGracePeriodSeconds) * 1000;
}

/**
 * The name of the Deployment of a ReplicaSet, which adds a hash without a hyphen to it.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label
 */
export function deploymentName(replicaSet: string): string {
  return replicaSet.replace(/-[^-]+$/, '');
}

/** The `namespace/name` of the Deployment of a pod that a ReplicaSet owns. */
export function deploymentOf({ namespace, controller }: Pod): string {
  return `${namespace}/${deploymentName(controller?.name ?? '')}`;
}
