import { missing } from '../missing.ts';
import type { Attempt } from './attempt.ts';
import type { CombiningBudget } from './effort.ts';
import { combiningsFor } from './packing/combining.ts';
import { linearPrices } from './packing/linear-values.ts';
import type { PackingWay } from './packing/pack.ts';
import { countByShape } from './packing/pod-shapes.ts';
import { compareOptions } from './problem/launch-options.ts';
import type { SearchContext } from './search/search-state.ts';

/** A longer search revalues, where revaluing was cheaper than the usual way by a share. */
const REVALUED_GAIN_LEAST = 0.03;

/** Plans of so many USD an hour are worth a longer search: a percent of less is not. */
const LONG_REVALUED_COST_LEAST = 5;

/** Pods are mixed where such a share of them has its shape in common with others, up to the most. */
const MIXED = { least: 0.25, most: 0.75 } as const;

/** A plan that costs no more than so many times the bound of {@link isNearLinear} is near to it. */
const NEAR_LINEAR = 1.02;

/** A way to pack, and the plan that it made. */
export interface Packed {
  readonly way: PackingWay;
  readonly attempt: Attempt;
}

/** How many pods have their shape in common: patterns of nodes are of use as often as that. */
type Likeness = 'alike' | 'mixed' | 'unlike';

export function likenessOf({ problem }: SearchContext): Likeness {
  const { pods } = problem.demand;
  const counts = countByShape(
    problem.classes.map((podClass) => ({ podClass, count: podClass.pods.length })),
  );
  const shared = [...counts.values()].filter((count) => count > 1);
  const share = shared.reduce((sum, count) => sum + count, 0) / Math.max(pods.length, 1);
  if (share > MIXED.most) return 'alike';
  return share < MIXED.least ? 'unlike' : 'mixed';
}

export function costOf(packed: Packed | undefined): number {
  return packed?.attempt.cost ?? Number.POSITIVE_INFINITY;
}

export function cheapest(found: readonly Packed[]): Packed | undefined {
  return found.toSorted((a, b) => a.attempt.cost - b.attempt.cost)[0];
}

export function isRevaluedLong(
  found: readonly Packed[],
  usual: PackingWay,
  revalued: PackingWay,
): boolean {
  const of = (asked: PackingWay) => found.find(({ way }) => way === asked);
  const again = of(revalued);
  if (again === undefined) return false;
  const { cost } = again.attempt;
  return cost >= LONG_REVALUED_COST_LEAST && cost <= costOf(of(usual)) * (1 - REVALUED_GAIN_LEAST);
}

/**
 * Patterns of all other ways are combined, and what is left is packed in the cheapest way, or
 * combined again: what that costs follows the shapes of pods and the money at stake.
 */
export function combiningWays(
  found: readonly Packed[],
  usual: PackingWay,
  budget: CombiningBudget,
): readonly PackingWay[] {
  const best = cheapest(found);
  return combiningsFor(budget, costOf(best)).map((combining) => ({
    ...(best?.way ?? usual),
    dotProduct: false,
    combining,
  }));
}

/**
 * Whether the plan places all pods and costs nearly as little as if only sums of resources counted:
 * other ways to pack can hardly be cheaper.
 */
export function isNearLinear(
  { attempt: { state, cost } }: Packed,
  { problem }: SearchContext,
): boolean {
  if (problem.classes.some((podClass) => state.leftOf(podClass) > 0)) return false;
  const { resources, settings } = problem;
  const total = new Float64Array(resources.length);
  for (const { used } of state.bins) {
    for (let r = 0; r < total.length; r++) {
      total[r] = (total[r] ?? missing(r)) + (used[r] ?? missing(r));
    }
  }
  const rows = resources.map((_, r) => r).filter((r) => (total[r] ?? missing(r)) > 0);
  const options = problem.groups.flatMap(({ paretoFront }) => paretoFront).sort(compareOptions);
  if (options.length === 0) return false;
  const amounts = Float64Array.from(rows, (r) => total[r] ?? missing(r));
  const prices = linearPrices(rows, amounts, options, settings.nodePrice);
  return cost <= NEAR_LINEAR * prices.of(total);
}

/** How many weights the NodePools have that get nodes: each is packed on its own. */
export function weightsOf(packed: Packed | undefined): number {
  const bins = packed?.attempt.state.bins ?? [];
  return new Set(bins.map(({ chosen }) => chosen.pool.pool.weight)).size;
}

/** What combining patterns takes at most for the NodePools of one weight. */
export function combiningSteps({ combining }: PackingWay): number {
  if (combining === undefined) return 0;
  const { rehearsal, stepsMax, dives = 0 } = combining;
  return (rehearsal?.searchedMax ?? 0) + stepsMax + dives;
}
