import type { Reason } from '../explain/reason.ts';
import type { Node } from '../model/cluster.ts';
import type { Labels } from '../model/labels.ts';
import type { CapacityReservation } from '../model/node-class.ts';
import type { Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { Taint } from '../model/taint.ts';
import type { ConditionClaim } from './conditions.ts';
import type { RepairCause } from './repair.ts';

export const TERMINATION_FINALIZER = 'karpenter.sh/termination';
export const TERMINATION_TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';
export const TAGGED = 'karpenter.k8s.aws/tagged';
export const EXCLUDE_FROM_LOAD_BALANCERS =
  'node.kubernetes.io/exclude-from-external-load-balancers';

/** Why a claim was deleted, with Karpenter's metric values. */
export type DeletionReason =
  | 'launch_timeout'
  | 'registration_timeout'
  | 'expired'
  | 'garbage_collected'
  | 'node_deleted'
  | 'capacity_block_ending'
  | RepairCause['reason'];

/**
 * One thing to do; a claim's actions are carried out in order, each can be repeated. Which of them
 * wait where one before them is refused says `hasToWait`.
 */
export type LifecycleAction =
  | {
      readonly kind: 'delete-claim';
      readonly reason: DeletionReason;
      readonly why: Reason;
      /** Set where the node is unhealthy. */
      readonly repairCause?: RepairCause;
    }
  /** Opens the node to pods, to which kube-scheduler is told that those planned for it belong. */
  | {
      readonly kind: 'register';
      readonly node: Node;
      readonly pods: readonly Pod[];
      readonly labels: Labels;
      readonly annotations: Labels;
      readonly taints: readonly Taint[];
    }
  /** Tells kube-scheduler again that the pods are meant for the node, which is open. */
  | { readonly kind: 'nominate'; readonly node: Node; readonly pods: readonly Pod[] }
  /** The claim says that its node is registered. */
  | { readonly kind: 'confirm'; readonly node: Node }
  | { readonly kind: 'initialize'; readonly node: Node }
  | { readonly kind: 'conditions'; readonly set: readonly ConditionClaim[] }
  /** The claim gets its finalizer: from then on, whoever deletes it has its node drained. */
  | { readonly kind: 'hold-claim' }
  /** null removes. */
  | { readonly kind: 'annotate'; readonly annotations: Readonly<Record<string, string | null>> }
  /** Names the instance for people; the claim is annotated when it is done. */
  | {
      readonly kind: 'tag';
      readonly instanceId: string;
      readonly tags: Labels;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  /** Claim and node say that the instance, whose reservation has ended, is paid on-demand. */
  | { readonly kind: 'demote'; readonly nodes: readonly Node[] }
  | { readonly kind: 'delete-node'; readonly node: Node }
  | { readonly kind: 'taint-node'; readonly node: Node; readonly taints: readonly Taint[] }
  | { readonly kind: 'evict'; readonly pods: readonly Pod[] }
  /** Their Deployments are restarted. */
  | { readonly kind: 'restart'; readonly pods: readonly Pod[] }
  /** They stay where they are, and people are told. */
  | { readonly kind: 'keep'; readonly pods: readonly Pod[] }
  | { readonly kind: 'remove-pod'; readonly pod: Pod; readonly gracePeriodSeconds: number }
  | {
      readonly kind: 'terminate';
      readonly instanceId: string;
      /** The drain's time is up. */
      readonly isPastDeadline: boolean;
    }
  | { readonly kind: 'finalize-node'; readonly node: Node }
  | { readonly kind: 'finalize-claim' };

/** When this process has read a node without and with the taint of a drain. */
export interface SeenTaint {
  /** The last time without it. */
  readonly freeAtMs?: number;
  /** The first time with it; absent: it has not got it. */
  readonly taintedSinceMs?: number;
}

/** What is known about one claim's surroundings. */
export interface ClaimSurroundings {
  readonly nowMs: number;
  /** Nodes with the claim's provider id. */
  readonly nodes: readonly Node[];
  /** On those nodes. */
  readonly pods: readonly Pod[];
  /** Pods that were planned for the claim's node, have none and are nominated to none. */
  readonly awaiting: readonly Pod[];
  /** Pods that are nominated to its node and have none. */
  readonly nominated?: readonly Pod[];
  /** Whether a pod that was planned for the claim's node still has none. */
  readonly isAwaited: boolean;
  /** The claim whose node the claim's own waits for before it opens. */
  readonly awaitedNode?: NodeClaim | undefined;
  /** The canary of its image failed, and nodes are launched with a proven one. */
  readonly isOfFailedImage?: boolean;
  /** As the cloud lists it; `absent` = not listed any more. */
  readonly instance: 'present' | 'shutting-down' | 'absent';
  /** Why it has ended or is about to, where the cloud knows. */
  readonly stateReason?: string | undefined;
  /** The tags of its class name the instance: that name stays. */
  readonly isNamed?: boolean;
  /** The instance runs, and in no reservation. */
  readonly isUnreserved?: boolean;
  /** The Capacity Block of the instance, if it is about to end. */
  readonly endingBlock?: CapacityReservation | undefined;
  readonly blockingAttachments: readonly string[];
  /** By uid of the node; absent: this process has seen none of them before. */
  readonly seenTaints?: ReadonlyMap<string, SeenTaint>;
  /** Undefined: its node and instance are well, or nobody has looked. */
  readonly repairCause?: RepairCause | undefined;
  /** Expiration waits: launches or disruptions are paused, or the zone is shifted away. */
  readonly isExpiryHeld?: boolean;
  /** What {@link isNodeRemoved} says. */
  readonly isNodeRemoved?: boolean;
}

export interface ClaimDecision {
  readonly claim: NodeClaim;
  readonly actions: readonly LifecycleAction[];
}

/** The instance id at the end of `aws:///<zone>/<id>`. */
export function instanceIdOf(providerId: string | undefined): string | undefined {
  return /^aws:\/\/\/[a-z0-9-]+\/(i-[0-9a-f]+)$/.exec(providerId ?? '')?.[1];
}

export function providerIdOf(zone: string, instanceId: string): string {
  return `aws:///${zone}/${instanceId}`;
}
