/**
 * Which pods are on which node, as JSON has it for `-o json` and for pages: the key `packing`.
 * docs/page.md lists the fields.
 */

export type Amounts = Readonly<Record<string, string>>;

/** Pods of one owner with equal requests. */
export interface PackedWorkload {
  readonly namespace: string;
  /** `Pod` where nothing controls them. */
  readonly kind: string;
  readonly name: string;
  readonly requests: Amounts;
}

/** How many pods of the workload with this index. */
export type PodCount = readonly [workload: number, count: number];

/** An offering that a NodeClaim could have taken. */
export interface Offer {
  readonly type: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly listPrice: number;
  /** After overlays. */
  readonly price: number;
  /** The overlay that changed the price. */
  readonly overlay: string | null;
  /** False while EC2 cannot fill it. */
  readonly available: boolean;
  /** Other zones that sell the same type and capacity type at this price. */
  readonly samePriceIn: readonly string[];
}

/** What was compared for one or more NodeClaims. */
export interface Ladder {
  readonly nodePool: string;
  /** The best of each type and capacity type, cheapest first; the first few only. */
  readonly offers: readonly Offer[];
  /** Of how many offerings these are the best. */
  readonly considered: number;
  /** How many instance types they are of. */
  readonly types: number;
  /** Of them, in alphabetical order. */
  readonly zones: readonly string[];
  /** In which the types are sold, and the NodeClaim may not be. */
  readonly otherZones: readonly string[];
}

export interface RunnerUpText {
  readonly type: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly price: number;
  readonly listPrice: number;
  readonly why: string;
}

/** Seconds since the start of a simulation. */
export interface Lifetime {
  /** The instance was launched. */
  readonly launched: number;
  readonly ready: number | null;
  /** It is drained from then on. */
  readonly draining: number | null;
  readonly gone: number | null;
}

export type NodeState = 'runs' | 'new' | 'leaves';

export interface PackedNode {
  readonly name: string;
  readonly nodeClaim: string | null;
  /** Null: somebody else's node. */
  readonly nodePool: string | null;
  readonly instanceType: string | null;
  readonly zone: string | null;
  readonly capacityType: string | null;
  /** USD an hour; null: not known. */
  readonly listPrice: number | null;
  /** After overlays. */
  readonly price: number | null;
  readonly overlays: readonly string[];
  /** What overlays have added to its capacity; empty: nothing, or it is not known. */
  readonly overlaid: Amounts;
  readonly state: NodeState;
  readonly allocatable: Amounts;
  /** Of `workloads`; of a simulation, the last that it had. */
  readonly pods: readonly PodCount[];
  /** For pods of DaemonSets that a planned node is to get. */
  readonly reserved: Amounts;
  /** Of `ladders`; null: it was not bought now. */
  readonly ladder: number | null;
  readonly runnerUp: RunnerUpText | null;
  /** NodeClaims in whose place it was launched. */
  readonly replaces: readonly string[];
  /** Why it comes or goes, where that is decided here. */
  readonly why: string | null;
  readonly life: Lifetime | null;
}

export interface Packing {
  readonly workloads: readonly PackedWorkload[];
  readonly ladders: readonly Ladder[];
  readonly nodes: readonly PackedNode[];
}
