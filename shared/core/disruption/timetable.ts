import {
  byDisruptionReason,
  DISRUPTION_REASONS,
  type DisruptionBudget,
  type DisruptionReason,
  type NodePool,
} from '../model/provisioning.ts';
import { allowedBy, budgetsOfPool, isFor } from './budgets.ts';
import { type Interval, intervalsOf } from './schedule.ts';

/** By name, as people look them up. */
export const REASONS: readonly DisruptionReason[] = DISRUPTION_REASONS.toSorted();

/** How many nodes may be gone at once in that time, by reason. */
export interface BudgetWindow extends Interval {
  readonly allowed: Readonly<Record<DisruptionReason, number>>;
}

interface Limit {
  readonly reasons: readonly DisruptionReason[];
  readonly times: readonly Interval[];
  readonly most: number;
}

/** A schedule that cannot be read always holds, and lets nothing go. */
function limitOf(budget: DisruptionBudget, total: number, range: Interval): Limit {
  const { schedule, durationMs = 0 } = budget;
  const reasons = REASONS.filter((each) => isFor(budget, each));
  const times = schedule === undefined ? [range] : intervalsOf(schedule, durationMs, range);
  if (times === undefined) return { reasons, times: [range], most: 0 };
  return { reasons, times, most: Math.max(0, allowedBy(budget, total)) };
}

function allowedAt(
  limits: readonly Limit[],
  total: number,
  nowMs: number,
): BudgetWindow['allowed'] {
  const holding = limits.filter(({ times }) =>
    times.some(({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs),
  );
  const least = (reason: DisruptionReason): number =>
    holding
      .filter(({ reasons }) => reasons.includes(reason))
      .reduce((least, { most }) => Math.min(least, most), total);
  return byDisruptionReason(least);
}

/**
 * What the budgets of a pool with so many nodes allow in the range, one window after the other, as
 * `allowedDisruptions` would at each moment were no node disrupted.
 */
export function budgetWindows(
  pool: Pick<NodePool, 'annotations' | 'disruption'>,
  total: number,
  range: Interval,
): readonly BudgetWindow[] {
  const limits = budgetsOfPool(pool).map((budget) => limitOf(budget, total, range));
  const edges = limits.flatMap(({ times }) => times.flatMap(({ fromMs, toMs }) => [fromMs, toMs]));
  const starts = [...new Set([range.fromMs, ...edges])].sort((a, b) => a - b);
  const windows: BudgetWindow[] = [];
  for (const [at, fromMs] of starts.entries()) {
    const toMs = starts[at + 1] ?? range.toMs;
    if (fromMs >= toMs) continue;
    const allowed = allowedAt(limits, total, fromMs);
    const last = windows.at(-1);
    const isSame = REASONS.every((each) => last?.allowed[each] === allowed[each]);
    if (last !== undefined && isSame) windows.splice(-1, 1, { ...last, toMs });
    else windows.push({ fromMs, toMs, allowed });
  }
  return windows;
}
