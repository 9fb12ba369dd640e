import type { GroupCaps } from '../limit-groups/limit-groups.ts';
import type {
  CsiNode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  StorageClass,
} from './cluster.ts';
import type { Currency } from './currency.ts';
import type { InstanceType } from './instance-type.ts';
import type { Pod } from './pod.ts';
import type { NodeClaim, NodeOverlay, NodePool } from './provisioning.ts';

/**
 * Everything that a decision may depend on, read once and never changed. Plain data: it can be
 * written to a file and decided again, byte for byte. The order of the lists carries no meaning.
 */
export interface ClusterSnapshot {
  readonly nodePools: readonly NodePool[];
  readonly nodeOverlays: readonly NodeOverlay[];
  /** By NodePool name; before overlays. Pools may share one list. A pool without types is absent. */
  readonly instanceTypes: ReadonlyMap<string, readonly InstanceType[]>;
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly namespaces: readonly Namespace[];
  readonly persistentVolumeClaims: readonly PersistentVolumeClaim[];
  readonly persistentVolumes: readonly PersistentVolume[];
  readonly storageClasses: readonly StorageClass[];
  readonly csiNodes: readonly CsiNode[];
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[];
  /** Nodes by name that moving pods are not planned on; kube-scheduler knows nothing of it. */
  readonly closedNodes?: ReadonlySet<string>;
  /** Caps on NodePools together, as they are now; absent: there are none. */
  readonly groupCaps?: readonly GroupCaps[];
}

/** From the fewest steps to the most. */
export const EFFORTS = ['quick', 'normal', 'thorough'] as const;

/** What the user may tune about scheduling; the options are in docs/deploy.md. */
export interface SchedulingSettings {
  /** Ignore drops every preference. */
  readonly preferencePolicy: 'Respect' | 'Ignore';
  readonly minValuesPolicy: 'Strict' | 'BestEffort';
  readonly reservedCapacity: boolean;
  /** May a pod that could use a reservation fall back to on-demand in the same pass. */
  readonly reservedFallback: boolean;
  readonly nodeOverlay: boolean;
  /** Share of the plan's cost that meeting all preferences of a kind may add. */
  readonly preferenceWorth: { readonly zone: number; readonly other: number };
  /** At most this many instance types are kept on a claim. */
  readonly instanceTypesMax: number;
  /**
   * USD an hour that a node counts as beyond its instance while plans are compared; never reported
   * as cost.
   */
  readonly nodePrice: number;
  /** In which prices are; reasons name it. */
  readonly currency: Currency;
  /** How many steps go into cheaper plans; the budgets are in `scheduling/effort.ts`. */
  readonly effort: (typeof EFFORTS)[number];
  /** Bound on the work of one decision; the best valid plan so far is returned when it is spent. */
  readonly stepsMax: number;
}

export const DEFAULT_SCHEDULING_SETTINGS: SchedulingSettings = {
  preferencePolicy: 'Respect',
  minValuesPolicy: 'Strict',
  reservedCapacity: true,
  reservedFallback: false,
  nodeOverlay: true,
  preferenceWorth: { zone: 0.1, other: 0.02 },
  instanceTypesMax: 60,
  nodePrice: 0.003,
  currency: 'USD',
  effort: 'normal',
  stepsMax: 50_000_000,
};
