import { missing } from '../../shared/core/missing.ts';
import {
  type LinearPrices,
  linearPrices,
} from '../../shared/core/scheduling/packing/linear-values.ts';
import type {
  LaunchGroup,
  LaunchOption,
} from '../../shared/core/scheduling/problem/launch-options.ts';
import type {
  ResolvedClass,
  SearchContext,
} from '../../shared/core/scheduling/search/search-state.ts';
import { nodesByRules, rulesAllow } from './scheduler-nodes.ts';

/**
 * A lower bound that only looks at sums of resources, as if pods could be cut into pieces: weaker
 * than the one of {@link linearProgram}, and found by looking at each launch and class a few times.
 *
 * Whatever prices the resources have, a class's pods cost what their requests are worth, at the rate
 * of the cheapest launches that they may go to: what is paid there for each unit of worth. So the
 * pods of a launch never cost more than it. What is there already saves what its room is worth.
 */
export function resourceBound(
  context: SearchContext,
  resolvedClasses: readonly ResolvedClass[],
  counts: ReadonlyMap<ResolvedClass, number>,
): number {
  const { groups, resources } = context.problem;
  const launches = groups.flatMap(({ paretoFront }) => paretoFront).filter(isEndless);
  const total = Float64Array.from(resources, (_, r) =>
    resolvedClasses.reduce(
      (sum, each) => sum + countOf(counts, each) * (each.podClass.requests[r] ?? missing(r)),
      0,
    ),
  );
  const rows = [...total.keys()].filter((r) => (total[r] ?? missing(r)) > 0);
  if (launches.length === 0) return 0;
  const there = roomThere(context, resolvedClasses);
  // All together, and each alone: that is better where pods of all kinds lack one of them.
  return [rows, ...rows.map((r) => [r])].reduce((most, some) => {
    const sums = Float64Array.from(some, (r) => total[r] ?? missing(r));
    const rates = new Rates(linearPrices(some, sums, launches, 0), groups);
    const cost = resolvedClasses.reduce(
      (sum, each) => sum + countOf(counts, each) * rates.costOf(each),
      0,
    );
    const saved = there.reduce((sum, each) => sum + rates.savedBy(each), 0);
    return Math.max(most, cost - saved);
  }, 0);
}

/** What pods find beside launches that can be bought any number of times. */
interface Room {
  readonly free: Float64Array;
  readonly price: number;
  readonly count: number;
  readonly takes: readonly ResolvedClass[];
}

function roomThere(
  context: SearchContext,
  resolvedClasses: readonly ResolvedClass[],
): readonly Room[] {
  const reserved = context.problem.groups
    .flatMap(({ paretoFront }) => paretoFront)
    .filter((option) => !isEndless(option))
    .map(({ free, price, group, offering }): Room => {
      const takes = resolvedClasses.filter(({ allowed }) => allowed[group.id] === 1);
      return { free, price, count: offering.reservation?.capacity ?? 0, takes };
    });
  const existing = nodesByRules(context).map((nodes): Room => {
    const free = Float64Array.from(context.problem.resources, (_, r) =>
      nodes.reduce((sum, each) => sum + Math.max(0, each.free[r] ?? missing(r)), 0),
    );
    const [first = missing(0)] = nodes;
    const takes = resolvedClasses.filter((each) => rulesAllow(each, first));
    return { free, price: 0, count: 1, takes };
  });
  return [...reserved, ...existing];
}

/** What is paid at least, in each group of launches, for a unit of what resources are worth. */
class Rates {
  private readonly prices: LinearPrices;
  private readonly byGroup: ReadonlyMap<LaunchGroup, number>;
  private readonly byClass = new Map<ResolvedClass, number>();

  constructor(prices: LinearPrices, groups: readonly LaunchGroup[]) {
    this.prices = prices;
    const rateOf = ({ price, free }: LaunchOption) => {
      const worth = prices.of(free.map((amount) => Math.max(0, amount)));
      return worth > 0 ? price / worth : Number.POSITIVE_INFINITY;
    };
    this.byGroup = new Map(
      groups.map((group) => [group, Math.min(...group.paretoFront.filter(isEndless).map(rateOf))]),
    );
  }

  /** What a pod of the class costs at least; 0 where no launch holds it. */
  costOf(resolved: ResolvedClass): number {
    return this.prices.of(resolved.podClass.requests) * this.rateOf(resolved);
  }

  /** What the room saves at most: what its pods would cost in launches. */
  savedBy({ free, price, count, takes }: Room): number {
    const rate = takes.reduce((most, each) => Math.max(most, this.rateOf(each)), 0);
    return count * Math.max(0, this.prices.of(free) * rate - price);
  }

  private rateOf(resolved: ResolvedClass): number {
    const known = this.byClass.get(resolved);
    if (known !== undefined) return known;
    const least = resolved.groups.reduce(
      (rate, group) => Math.min(rate, this.byGroup.get(group) ?? rate),
      Number.POSITIVE_INFINITY,
    );
    const rate = Number.isFinite(least) ? least : 0;
    this.byClass.set(resolved, rate);
    return rate;
  }
}

function isEndless({ offering }: LaunchOption): boolean {
  return offering.reservation === undefined;
}

function countOf(counts: ReadonlyMap<ResolvedClass, number>, resolved: ResolvedClass): number {
  return counts.get(resolved) ?? 0;
}
