import { isReason } from '../explain/reason.ts';
import { isTrue } from '../lifecycle/conditions.ts';
import type { Node } from '../model/cluster.ts';
import { NODE_POOL } from '../model/labels.ts';
import type {
  DisruptionBudget,
  DisruptionReason,
  NodeClaim,
  NodePool,
} from '../model/provisioning.ts';
import { isDisrupted } from '../model/taint.ts';
import { returnTermsOf } from './first-choice.ts';
import { isWithin } from './schedule.ts';

/** The nodes of a NodePool that its budgets count. */
export interface PoolNodes {
  /** Initialised ones whose instance is not being ended. */
  readonly total: number;
  /** Of those, how many are not ready or on their way out. */
  readonly disrupted: number;
}

/** Whether budgets of the pool count the claim's node. */
export function isCounted(claim: NodeClaim, { name }: Pick<NodePool, 'name'>): boolean {
  return (
    claim.labels[NODE_POOL] === name &&
    isTrue(claim, 'Initialized') &&
    !isTrue(claim, 'InstanceTerminating')
  );
}

/** Whether the node of a claim that budgets count uses them up: it is on its way out or not ready. */
export function usesBudgets(
  claim: Pick<NodeClaim, 'deletedAtMs'>,
  node: Node | undefined,
): boolean {
  if (claim.deletedAtMs !== undefined || node === undefined) return true;
  return isDisrupted(node) || !isTrue(node, 'Ready');
}

/** Whether the budget holds now; a schedule that cannot be read always does, and lets nothing go. */
function limitOf(budget: DisruptionBudget, total: number, nowMs: number): number | undefined {
  const { schedule, durationMs = 0 } = budget;
  const isActive = schedule === undefined ? true : isWithin(schedule, durationMs, nowMs);
  if (isActive === false) return undefined;
  return isActive === undefined ? 0 : allowedBy(budget, total);
}

/** How many of so many nodes the budget lets go while it holds. */
export function allowedBy({ nodes }: DisruptionBudget, total: number): number {
  const percent = /^(\d+)%$/.exec(nodes)?.[1];
  return percent === undefined ? Number(nodes) : Math.ceil((Number(percent) * total) / 100);
}

/**
 * Whether the budget is for the reason. One without reasons is for all but repairs: the node of a
 * repair serves nobody, so that only budgets hold it that name it.
 */
export function isFor({ reasons }: DisruptionBudget, reason: DisruptionReason): boolean {
  return reasons === undefined ? reason !== 'Unhealthy' : reasons.includes(reason);
}

/** All budgets of the pool: those of its spec, and that of fallbacks, of which none go unasked. */
export function budgetsOfPool(
  pool: Pick<NodePool, 'annotations' | 'disruption'>,
): readonly DisruptionBudget[] {
  const terms = returnTermsOf(pool);
  const nodes = terms === undefined || isReason(terms) ? '0' : terms.nodes;
  const own = { nodes, schedule: undefined, durationMs: undefined, reasons: ['Fallback'] as const };
  return [...pool.disruption.budgets, own];
}

/** How many more nodes of the pool may be disrupted now for the reason: the strictest budget. */
export function allowedDisruptions(
  pool: NodePool,
  reason: DisruptionReason,
  nodes: PoolNodes,
  nowMs: number,
): number {
  const limits = budgetsOfPool(pool)
    .filter((budget) => isFor(budget, reason))
    .flatMap((budget) => limitOf(budget, nodes.total, nowMs) ?? []);
  const most = Math.min(nodes.total, ...limits.map((each) => (each >= 0 ? each : 0)));
  return Math.max(0, most - nodes.disrupted);
}
