import type { Observation } from '../../shared/api/observation.ts';

/** A node that was launched, or would have been. */
export interface ShadowLaunch {
  /** When it was first seen, ISO 8601. */
  readonly at: string;
  readonly by: 'karpenter' | 'joiner';
  readonly nodePool: string;
  readonly instanceType: string | null;
  readonly zone: string | null;
  readonly capacityType: string | null;
  readonly usdPerHour: number | null;
  /** `namespace/name`; of Karpenter's nodes they are not known. */
  readonly pods: readonly string[];
  /** NodeClaims of the nodes that it replaces; of Karpenter's nodes they are not known. */
  readonly replaces: readonly string[];
  /** The NodeClaim of a node that Joiner's plans had removed, and keep again; null: another launch. */
  readonly returned: string | null;
}

/** A node that went, or would have. */
export interface ShadowRemoval {
  readonly at: string;
  readonly by: 'karpenter' | 'joiner';
  readonly nodeClaim: string;
  readonly usdPerHour: number | null;
  readonly evictions: number;
  /** Joiner's reason; null: Karpenter's are not known. */
  readonly why: string | null;
}

/** What a side has at a moment. */
export interface Sums {
  readonly nodes: number;
  readonly usdPerHour: number;
  readonly pending: number;
}

/** Both sides from a moment on, until the next. */
export interface ShadowMoment {
  readonly at: string;
  readonly karpenter: Sums;
  readonly joiner: Sums;
}

/** One controller's figures. */
export interface Side {
  readonly nodesLaunched: number;
  /** List prices of these, without those that are not known. */
  readonly launchedUsdPerHour: number;
  readonly nodesRemoved: number;
  readonly removedUsdPerHour: number;
  readonly evictions: number;
  /** Of all nodes, the mean over the time. */
  readonly meanUsdPerHour: number;
  /** Seconds that pods waited for a node, all pods together. */
  readonly pendingSeconds: number;
}

export interface ShadowReport {
  readonly cluster: string;
  readonly currency: Observation['currency'];
  readonly from: string;
  readonly to: string;
  readonly observations: number;
  /** Observations at which Karpenter did not renew its Lease. */
  readonly withoutKarpenter: number;
  readonly figures: { readonly karpenter: Side; readonly joiner: Side };
  readonly launches: readonly ShadowLaunch[];
  readonly removals: readonly ShadowRemoval[];
  /** In order of time, an entry wherever something is another amount. */
  readonly timeline: readonly ShadowMoment[];
  readonly notes: readonly string[];
}
