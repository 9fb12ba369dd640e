import type { Labels } from './labels.ts';
import type { LabelSelector, NodeSelectorTerm, PodSpec } from './pod.ts';
import type { Resources } from './resources.ts';
import type { Taint } from './taint.ts';

/** A condition as every Kubernetes object carries it. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly lastTransitionAtMs: number;
  /** It was said of an earlier spec: `kubectl wait` does not take it for an answer. */
  readonly isOutdated?: true;
}

export interface Node {
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly createdAtMs: number;
  readonly deletedAtMs: number | undefined;
  readonly providerId: string | undefined;
  /** `spec.unschedulable` included as the taint node.kubernetes.io/unschedulable. */
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly conditions: readonly Condition[];
}

export interface DaemonSet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly podLabels: Labels;
  readonly podSpec: PodSpec;
  /**
   * Which of its templates this is, as the API server counts them; its pods have the number as the
   * label `pod-template-generation`. Undefined where the object does not say.
   */
  readonly templateGeneration: string | undefined;
}

export interface Namespace {
  readonly name: string;
  readonly labels: Labels;
}

export interface PersistentVolumeClaim {
  readonly namespace: string;
  readonly name: string;
  readonly storageClassName: string | undefined;
  readonly volumeName: string | undefined;
  /** Annotation pv.kubernetes.io/bind-completed is set. */
  readonly bindCompleted: boolean;
  readonly isDeleting: boolean;
  readonly isLost: boolean;
}

export interface PersistentVolume {
  readonly name: string;
  readonly csiDriver: string | undefined;
  readonly csiVolumeHandle: string | undefined;
  /** local or hostPath: a hostname term of the affinity is ignored. */
  readonly isLocal: boolean;
  readonly requiredNodeAffinity: readonly NodeSelectorTerm[] | undefined;
}

export interface StorageClass {
  readonly name: string;
  readonly provisioner: string;
  readonly volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer';
  /** OR-ed; undefined or empty = everywhere. */
  readonly allowedTopologies: readonly NodeSelectorTerm[];
}

/** How many volumes of each CSI driver a node can attach. */
export interface CsiNode {
  readonly name: string;
  readonly attachLimits: Readonly<Record<string, number>>;
}

export interface PodDisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** How many of how many pods have to be healthy; undefined: nobody has counted yet. */
  readonly desiredHealthy?: number | undefined;
  readonly expectedPods?: number | undefined;
  readonly maxUnavailable: number | string | undefined;
  readonly minAvailable: number | string | undefined;
  readonly unhealthyPodEvictionPolicy: 'IfHealthyBudget' | 'AlwaysAllow';
}
