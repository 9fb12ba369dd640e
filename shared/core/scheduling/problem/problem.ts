import type { Reason } from '../../explain/reason.ts';
import type { GroupRoom } from '../../limit-groups/group-room.ts';
import { CAPACITY_TYPE, ZONE } from '../../model/labels.ts';
import type { HostPort, Pod } from '../../model/pod.ts';
import type { Resources } from '../../model/resources.ts';
import type { SchedulingSettings } from '../../model/snapshot.ts';
import type { Demand } from './demand.ts';
import type { DaemonLoad, LaunchGroup } from './launch-options.ts';
import type { PoolVariant } from './launch-space.ts';
import type { NodeRule } from './node-rules.ts';
import type { PodSelectors } from './selectors.ts';
import type { StateNode } from './state-node.ts';
import type { TopologyTerms } from './topology-terms.ts';
import type { VolumeNeeds } from './volumes.ts';

/**
 * Kinds of preferences, as they are weighed against cost: terms about the zone, terms about the
 * capacity type, other node affinity, PreferNoSchedule taints, and other terms about pods (most of
 * them by hostname).
 */
export const PREFERENCE_KINDS = ['zone', 'capacityType', 'node', 'taint', 'pods'] as const;

export type PreferenceKind = (typeof PREFERENCE_KINDS)[number];

/** The kind of a preference about other pods. */
export function podPreferenceKind(key: string): PreferenceKind {
  if (key === ZONE) return 'zone';
  return key === CAPACITY_TYPE ? 'capacityType' : 'pods';
}

/** A preference that one rule about the node expresses. */
export interface NodePreference {
  readonly kind: PreferenceKind;
  readonly weight: number;
  readonly rule: NodeRule;
}

/** Pods that are equal in everything that decides where they may run. */
export interface PodClass {
  readonly id: number;
  /** In the order of the demand. */
  readonly pods: readonly Pod[];
  readonly rule: NodeRule;
  /** The rule without the volumes' topology: what spread constraints count nodes by. */
  readonly affinityRule: NodeRule;
  /** Per resource of the problem. */
  readonly requests: Float64Array;
  readonly priority: number;
  readonly ports: readonly HostPort[];
  readonly topology: TopologyTerms;
  /** Ids of the selectors that count these pods. */
  readonly matching: readonly number[];
  /** Heaviest first. */
  readonly preferences: readonly NodePreference[];
  /**
   * Everything that the pods would like, whether or not the settings respect it: what is scored.
   */
  readonly scored: {
    readonly preferences: readonly NodePreference[];
    readonly topology: TopologyTerms;
  };
  readonly volumes: VolumeNeeds;
}

/** A pod that runs and that pending pods can notice, beyond the room that it takes. */
export interface RunningPod {
  readonly pod: Pod;
  readonly node: StateNode;
  readonly topology: TopologyTerms;
  readonly matching: readonly number[];
}

/** The scheduling problem with everything resolved, interned and counted. */
export interface Problem {
  readonly settings: SchedulingSettings;
  readonly demand: Demand;
  readonly resources: readonly string[];
  readonly classes: readonly PodClass[];
  readonly running: readonly RunningPod[];
  /** All pods that stay on each of the nodes, those that nobody notices among them. */
  readonly staying: ReadonlyMap<StateNode, readonly Pod[]>;
  /** By the name of a node: what is kept there for pods that preempt others. */
  readonly keptForPreemptors: ReadonlyMap<string, Resources>;
  readonly nodes: readonly StateNode[];
  /** Those that count against the limits of their NodePools, also where they are about to go. */
  readonly limited: readonly StateNode[];
  /** Those of the nodes that pods which move are not planned on. */
  readonly closed: ReadonlySet<StateNode>;
  readonly pools: readonly PoolVariant[];
  readonly groups: readonly LaunchGroup[];
  /** Those of the groups that the rules of some pod of the demand allow: no plan opens others. */
  readonly usable: ReadonlySet<LaunchGroup>;
  /** What caps on NodePools together leave before the plan. */
  readonly limitGroups: readonly GroupRoom[];
  readonly daemons: readonly DaemonLoad[];
  readonly daemonPorts: readonly { readonly rule: NodeRule; readonly ports: readonly HostPort[] }[];
  readonly selectors: PodSelectors;
  /** Volumes attached to nodes by running pods, by `attach:<driver>`. */
  readonly runningAttachments: ReadonlyMap<StateNode, ReadonlyMap<string, ReadonlySet<string>>>;
  /** Pods that no plan can place, and why. */
  readonly unplaceable: ReadonlyMap<Pod, readonly Reason[]>;
}
