import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import type { Usage } from '../../shared/kube/pod-metrics.ts';
import { type Kind, nodesByType, type Row } from '../compare/comparison.ts';
import type { Subject } from '../compare/subject.ts';

/** What an advice is about; also the order of those of one amount. */
export const ADVICE_KINDS = [
  'types',
  'zones',
  'capacity-types',
  'architecture',
  'consolidation',
  'limits',
  'requests',
] as const;

export type AdviceKind = (typeof ADVICE_KINDS)[number];

/**
 * What both sides of an advice are: the pods of Joiner's nodes planned on none of these nodes; the
 * cluster after everything that pays back was consolidated; or new nodes for the pods that wait.
 */
export const BASES = ['planned-anew', 'consolidated', 'pending-pods'] as const;

export type Basis = (typeof BASES)[number];

/** What an advice is made from. */
export interface Advised
  extends Pick<Subject, 'snapshot' | 'scheduling' | 'consolidation' | 'nowMs' | 'notes'> {
  /** Undefined: no pod was metered. */
  readonly usage: Usage | undefined;
}

/** Nodes with or without the change. */
export interface Side {
  readonly nodes: number;
  /** List prices. */
  readonly usdPerHour: number;
  readonly podsUnplaced: number;
  /** Most first. */
  readonly instanceTypes: readonly Kind[];
}

/** A change that a person can make, and what it comes to. */
export interface Advice {
  readonly kind: AdviceKind;
  /** `NodePool/default`, `Deployment/shop/web`, `PodDisruptionBudget/shop/web`. */
  readonly object: string;
  /** In a sentence. */
  readonly change: string;
  /** What the change saves; less than 0: it costs that, since pods that wait get nodes. */
  readonly usdPerMonth: number;
  readonly basis: Basis;
  readonly before: Side;
  readonly after: Side;
  /** What of the cluster shows it, a sentence each. */
  readonly evidence: readonly string[];
}

/** Less than this a month is no advice. */
export const USD_PER_MONTH_MIN = 1;

/** The most workloads, or objects that block consolidation, of which the effect is computed. */
export const EVALUATED_MAX = 20;

/** New nodes of a plan. */
export function sideOf({
  newNodeClaims,
  unplaced,
}: Pick<Plan, 'newNodeClaims' | 'unplaced'>): Side {
  return {
    nodes: newNodeClaims.length,
    usdPerHour: newNodeClaims.reduce((sum, { chosen }) => sum + chosen.listPrice, 0),
    podsUnplaced: unplaced.size,
    instanceTypes: nodesByType(
      newNodeClaims.map(({ chosen: { type: instanceType, capacityType } }) => ({
        instanceType,
        capacityType,
      })),
    ),
  };
}

/** The nodes of a cluster. */
export function sideOfRow({ nodes, usdPerHour, podsLeft, instanceTypes }: Row): Side {
  return { nodes, usdPerHour, podsUnplaced: podsLeft, instanceTypes };
}

/** USD a month that the second side costs less. */
export function savedBy(before: Side, after: Side): number {
  return (before.usdPerHour - after.usdPerHour) * HOURS_A_MONTH;
}

/** Whether the change gives nodes to pods that wait; any other change saves. */
export function isForWaiting({ basis }: Advice): boolean {
  return basis === 'pending-pods';
}

/** Savings first, the largest amounts first; then what gives nodes to pods that wait, cheapest first. */
export function ranked(advice: readonly Advice[]): readonly Advice[] {
  return advice.toSorted(
    (a, b) =>
      Number(isForWaiting(a)) - Number(isForWaiting(b)) ||
      b.usdPerMonth - a.usdPerMonth ||
      ADVICE_KINDS.indexOf(a.kind) - ADVICE_KINDS.indexOf(b.kind) ||
      (a.object < b.object ? -1 : 1),
  );
}
