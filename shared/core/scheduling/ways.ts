import type { Attempt } from './attempt.ts';
import type { CombiningBudget } from './effort.ts';
import type { Combining } from './packing/combining.ts';
import type { PackingWay } from './packing/pack.ts';
import type { LongSearch } from './packing/pricing.ts';
import type { SearchContext } from './search/search-state.ts';

/** A longer search revalues, where revaluing was cheaper than the usual way by a share. */
const REVALUED_GAIN_LEAST = 0.03;

/** Plans of so many USD an hour are worth a longer search: a percent of less is not. */
const LONG_REVALUED_COST_LEAST = 5;

/** Patterns are combined where there are so many pods of a shape, in the mean. */
const MULTIPLE_LEAST = 2;

/** A way to pack, and the plan that it made. */
export interface Packed {
  readonly way: PackingWay;
  readonly attempt: Attempt;
}

/** Whether patterns are of use more than once: not where each pod has a shape of its own. */
export function hasMultiples({ problem }: SearchContext): boolean {
  const shapes = new Set(problem.classes.map(({ requests }) => requests.join()));
  return problem.demand.pods.length >= MULTIPLE_LEAST * shapes.size;
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
  const of = (asked: PackingWay) => costOf(found.find(({ way }) => way === asked));
  return (
    of(revalued) >= LONG_REVALUED_COST_LEAST &&
    of(revalued) <= of(usual) * (1 - REVALUED_GAIN_LEAST)
  );
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
  const cost = costOf(best);
  const { least, perUsd, most, longCostLeast, rehearsal } = budget;
  const stepsMax = Math.min(most, least + perUsd * cost);
  const isLong = cost >= longCostLeast;
  const steps = isLong ? { stepsMax, rehearsal, long: longSearch(budget, cost) } : { stepsMax };
  const ways: Combining[] = budget.roundedFrom.map((roundedFrom) => ({ ...steps, roundedFrom }));
  if (isLong) {
    const dives = Math.min(budget.divesMost, budget.divesPerUsd * cost);
    // The patterns are those that the others have found.
    ways.push({ stepsMax: 0, roundedFrom: 1, dives });
  }
  return ways.map((combining) => ({ ...(best?.way ?? usual), combining }));
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

/** How long one search may be for a plan of such a cost. */
function longSearch(
  { longSteps, longestLeast, longestPerUsd, longestMost }: CombiningBudget,
  cost: number,
): LongSearch {
  return { first: longSteps, longest: Math.min(longestMost, longestLeast + longestPerUsd * cost) };
}
