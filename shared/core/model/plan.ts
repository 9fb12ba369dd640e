import { type Reason, sentences } from '../explain/reason.ts';
import type { CapacityType, Labels } from './labels.ts';
import type { RequirementExpression } from './requirement.ts';
import type { Resources } from './resources.ts';
import type { Taint } from './taint.ts';

/** One offering of one type, named. */
export interface OfferingChoice {
  readonly type: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly reservationId: string | undefined;
  /** An hour's price after overlays, in the region's currency. */
  readonly price: number;
  readonly listPrice: number;
}

export interface RunnerUp extends OfferingChoice {
  readonly priceDifference: number;
  /** Why the chosen one was better, in a sentence. */
  readonly why: string;
}

/** A NodeClaim that the plan wants to exist, and the pods it was planned for. */
export interface PlannedNodeClaim {
  readonly nodePool: string;
  /** What the NodeClaim's spec.requirements will say, keys in alphabetical order. */
  readonly requirements: readonly RequirementExpression[];
  /** Every type that fits all its pods, cheapest first. */
  readonly instanceTypes: readonly string[];
  readonly chosen: OfferingChoice;
  readonly runnerUp: RunnerUp | undefined;
  /** `namespace/name`, sorted. */
  readonly pods: readonly string[];
  /** Of the pods and the DaemonSets that will run beside them. */
  readonly requests: Resources;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly taints: readonly Taint[];
  /** Names of the overlays that changed the chosen offering's price or the type's capacity. */
  readonly overlays: readonly string[];
}

/** Why a pod has no place. */
export interface UnplacedReason {
  /** Each has to go before the pod gets one. */
  readonly reasons: readonly Reason[];
  /** The reasons in words, for people. */
  readonly message: string;
}

export function unplacedBecause(reasons: readonly Reason[]): UnplacedReason {
  return { reasons, message: sentences(reasons) };
}

export interface PreferenceScore {
  readonly satisfiedWeight: number;
  readonly totalWeight: number;
  readonly byKind: Readonly<Record<string, { readonly satisfied: number; readonly total: number }>>;
}

/** What playing a plan back as kube-scheduler would bind its pods has found. */
export interface Stranded {
  /** Join orders that were played; 0: the plan is too large to tell. */
  readonly orders: number;
  /** Pods left over, in all orders together. */
  readonly pods: number;
}

export interface Plan {
  /** Sorted by NodePool, chosen type, zone and first pod. */
  readonly newNodeClaims: readonly PlannedNodeClaim[];
  /** Pods nominated to nodes and in-flight claims that exist, sorted by node. */
  readonly existing: readonly { readonly node: string; readonly pods: readonly string[] }[];
  /** By pod key. */
  readonly unplaced: ReadonlyMap<string, UnplacedReason>;
  /** Pods never considered, and why. */
  readonly ignored: ReadonlyMap<string, Reason>;
  readonly preferences: PreferenceScore;
  /** An hour's price of all new claims' chosen offerings, after overlays. */
  readonly pricePerHour: number;
  readonly listPricePerHour: number;
  /** Work spent, in the unit of `stepsMax`. */
  readonly steps: number;
}
