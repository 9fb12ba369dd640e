import type { Condition } from './cluster.ts';
import type { Labels } from './labels.ts';
import type { RequirementExpression } from './requirement.ts';
import type { Resources } from './resources.ts';
import type { Taint } from './taint.ts';

export interface NodeClassReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** Milliseconds, or never. */
export type DurationOrNever = number | 'Never';

/**
 * Why nodes are disrupted, as budgets of NodePools may name it.
 * https://karpenter.sh/docs/concepts/disruption/#reasons
 */
export const BUDGET_REASONS = ['Underutilized', 'Empty', 'Drifted', 'Unhealthy'] as const;

/** All of them. `Fallback` is ours: the annotation that asks for it has its budget. */
export const DISRUPTION_REASONS = [...BUDGET_REASONS, 'Fallback'] as const;

export type DisruptionReason = (typeof DISRUPTION_REASONS)[number];

/** A value for each disruption reason. */
export function byDisruptionReason<Value>(
  make: (reason: DisruptionReason) => Value,
): Readonly<Record<DisruptionReason, Value>> {
  return {
    Drifted: make('Drifted'),
    Empty: make('Empty'),
    Fallback: make('Fallback'),
    Underutilized: make('Underutilized'),
    Unhealthy: make('Unhealthy'),
  };
}

export interface DisruptionBudget {
  /** "10%" or "3". */
  readonly nodes: string;
  /** Cron expression, UTC; undefined = always active. */
  readonly schedule: string | undefined;
  readonly durationMs: number | undefined;
  /** Undefined: every reason. */
  readonly reasons: readonly DisruptionReason[] | undefined;
}

/** A NodePool with defaults filled in and keys normalised. */
export interface NodePool {
  readonly name: string;
  readonly uid: string;
  readonly annotations: Labels;
  readonly isDeleting: boolean;
  /** 1–100; 0 = not set. Heavier pools are tried first. */
  readonly weight: number;
  /** Remaining keys unlimited; the pseudo-resource `nodes` counts nodes. */
  readonly limits: Resources;
  /** Static capacity: this many nodes whatever the pods; undefined = dynamic. */
  readonly replicas: number | undefined;
  readonly template: NodeClaimTemplate;
  readonly disruption: {
    readonly consolidateAfter: DurationOrNever;
    readonly consolidationPolicy: 'WhenEmpty' | 'WhenEmptyOrUnderutilized' | 'Balanced';
    readonly budgets: readonly DisruptionBudget[];
  };
  /** A fault found only at run time (reason NodePoolValidationFailed): such a pool launches nothing. */
  readonly invalid: string | undefined;
  readonly conditions: readonly Condition[];
}

/** What a NodePool's NodeClaims are made from. */
export interface NodeClaimTemplate {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly requirements: readonly RequirementExpression[];
  readonly taints: readonly Taint[];
  readonly startupTaints: readonly Taint[];
  readonly nodeClassRef: NodeClassReference;
  readonly expireAfter: DurationOrNever;
  readonly terminationGracePeriodMs: number | undefined;
}

/** How an overlay changes a price. */
export type PriceChange =
  | { readonly kind: 'absolute'; readonly price: number }
  | { readonly kind: 'add'; readonly amount: number }
  | { readonly kind: 'percent'; readonly percent: number };

export interface NodeOverlay {
  readonly name: string;
  readonly requirements: readonly RequirementExpression[];
  /** 1–10000; 0 = not set. */
  readonly weight: number;
  readonly priceChange: PriceChange | undefined;
  readonly capacity: Resources;
  /** A fault found only at run time (reason RuntimeValidation): such an overlay is not applied. */
  readonly invalid: string | undefined;
}

export interface NodeClaim {
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly finalizers: readonly string[];
  readonly createdAtMs: number;
  readonly deletedAtMs: number | undefined;
  readonly requirements: readonly RequirementExpression[];
  readonly requests: Resources;
  readonly taints: readonly Taint[];
  readonly startupTaints: readonly Taint[];
  readonly nodeClassRef: NodeClassReference;
  readonly expireAfter: DurationOrNever;
  readonly terminationGracePeriodMs: number | undefined;
  readonly nodeName: string | undefined;
  readonly providerId: string | undefined;
  readonly imageId: string | undefined;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  /** When a pod last came to its node or left it; absent: nobody has noted it. */
  readonly lastPodEventAtMs?: number | undefined;
  readonly conditions: readonly Condition[];
  /** Why not all of its spec could be read: then nothing is launched for it. */
  readonly unreadable?: string;
}
