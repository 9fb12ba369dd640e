import { type Attempt, attemptOf, bestOf, isContested } from './attempt.ts';
import type { CombiningBudget, StepBudgets } from './effort.ts';
import type { Combining } from './packing/combining.ts';
import { type PackingWay, packBatches } from './packing/pack.ts';
import type { Relaxations } from './packing/pod-values.ts';
import type { LongSearch } from './packing/pricing.ts';
import {
  assignDomains,
  fillExisting,
  type PodBatch,
  priceAlone,
  type Quotas,
} from './placing/assign.ts';
import { byRequests, grow, suitableNodes } from './placing/grow.ts';
import { improved } from './placing/improve.ts';
import { merged } from './placing/merge.ts';
import { rightSize } from './placing/right-size.ts';
import type { PodClass } from './problem/problem.ts';
import { type ResolvedClass, type SearchContext, SearchState } from './search/search-state.ts';

/** Classes that are placed before all others. */
type First = ReadonlySet<PodClass>;

/** How often what is left over is placed first, at most. */
const FIRST_ROUNDS = 5;

/** A longer search revalues, where revaluing was cheaper than the usual way by a share. */
const REVALUED_GAIN_LEAST = 0.03;

/** Plans of so many USD an hour are worth a longer search: a percent of less is not. */
const LONG_REVALUED_COST_LEAST = 5;

/** Below this many USD an hour no more is searched than usual. */
const SEARCHED_COST_LEAST = 1;

/** Patterns are combined where there are so many pods of a shape, in the mean. */
const MULTIPLE_LEAST = 2;

/** The order in which classes are placed: those that are to come first, then by size. */
function orderOf(
  { problem, resolvedClasses }: SearchContext,
  first: First = new Set(),
): readonly ResolvedClass[] {
  const cpu = problem.resources.indexOf('cpu');
  const memory = problem.resources.indexOf('memory');
  const order = resolvedClasses.toSorted(byRequests(cpu, memory));
  return first.size === 0
    ? order
    : order.toSorted((a, b) => Number(first.has(b.podClass)) - Number(first.has(a.podClass)));
}

/** How pods are placed one by one. */
interface Growing {
  /** No pod is placed before one that matters more. */
  readonly byPriority?: boolean;
  readonly first?: First;
  /** Launches looked at, at most; undefined: as many as a plan may. */
  readonly most?: number;
}

/** Pod by pod; undefined: that takes too many steps. */
export function grown(
  context: SearchContext,
  { byPriority = false, first = new Set(), most }: Growing = {},
): Attempt | undefined {
  const state = new SearchState(context);
  const bySize = orderOf(context, first);
  const byImportance = (a: ResolvedClass, b: ResolvedClass) =>
    b.podClass.priority - a.podClass.priority;
  const order = byPriority ? bySize.toSorted(byImportance) : bySize;
  if (!grow(state, order, order, most)) return undefined;
  rightSize(state);
  return attemptOf(context, state);
}

/** Tries to learn how much the limits of heavier pools leave for each class. */
const QUOTA_ROUNDS = 4;

/**
 * Pods whose place depends on others are given to pools before those are filled. Where a limit then
 * leaves some of them over, all is done again with what was learnt; undefined: without success.
 */
function packed(
  context: SearchContext,
  way: PackingWay,
  relaxations: Relaxations,
  first: First = new Set(),
): Attempt | undefined {
  const quotas = new Map<ResolvedClass, Map<number, number>>();
  for (let round = 0; round < QUOTA_ROUNDS; round++) {
    const { attempt, over } = packOnce(context, orderOf(context, first), quotas, way, relaxations);
    if (attempt !== undefined) return attempt;
    for (const { resolved, weight, placed } of over) {
      const known = quotas.get(resolved) ?? new Map<number, number>();
      quotas.set(resolved, known.set(weight, placed));
    }
  }
  return undefined;
}

interface Packing {
  readonly attempt: Attempt | undefined;
  /** Classes that pools of a weight could not take whole, and how many pods they took. */
  readonly over: readonly {
    readonly resolved: ResolvedClass;
    readonly weight: number;
    readonly placed: number;
  }[];
}

function packOnce(
  context: SearchContext,
  order: readonly ResolvedClass[],
  quotas: Quotas,
  way: PackingWay,
  relaxations: Relaxations,
): Packing {
  const state = new SearchState(context);
  const isTogether = (resolved: ResolvedClass) => resolved.host.needs.length > 0;
  const isStuck = (resolved: ResolvedClass) =>
    resolved.groups.length === 0 && !resolved.hasTopology && !isTogether(resolved);
  fillExisting(state, order.filter(isStuck));
  grow(state, order.filter(isTogether), order);
  const tied = order.filter((resolved) => resolved.hasTopology && !isTogether(resolved));
  const free = order.filter(
    (resolved) => !resolved.hasTopology && !isTogether(resolved) && !isStuck(resolved),
  );
  const batches = assignDomains(state, tied, quotas);
  const given = new Map(batches.map((batch) => [batch, batch.count]));
  const rest = fillExisting(state, free);
  packBatches(state, [...batches, ...rest], way, relaxations);
  if (batches.some((batch) => batch.count > 0)) {
    return { attempt: undefined, over: overfull(batches, given) };
  }
  grow(state, order.filter(isTogether), order);
  rightSize(state);
  return { attempt: attemptOf(context, state), over: [] };
}

/** By class and weight with pods left over: how many pods its pools took. */
function overfull(
  batches: readonly PodBatch[],
  given: ReadonlyMap<PodBatch, number>,
): Packing['over'] {
  const short = batches.filter((batch) => batch.count > 0);
  const pairs = new Map(
    short.map((batch) => [`${batch.resolved.podClass.id}|${batch.weight}`, batch]),
  );
  return [...pairs.values()].map(({ resolved, weight = 0 }) => {
    const mine = batches.filter((batch) => batch.resolved === resolved && batch.weight === weight);
    const placed = mine.reduce((sum, batch) => sum + (given.get(batch) ?? 0) - batch.count, 0);
    return { resolved, weight, placed };
  });
}

/** A way to pack, and the plan that it made. */
interface Packed {
  readonly way: PackingWay;
  readonly attempt: Attempt;
}

/** What is known of a problem from other attempts at it by the same budgets. */
export class Known {
  readonly budgets: StepBudgets;
  readonly usual: PackingWay;
  readonly relaxations: Relaxations;
  /** Ways that are worth it; undefined: none was tried yet. */
  private ways: readonly PackingWay[] | undefined;

  constructor(budgets: StepBudgets, relaxations: Relaxations) {
    this.budgets = budgets;
    this.usual = { ...budgets.usual, revalues: false };
    this.relaxations = relaxations;
  }

  /**
   * The pods packed in several ways, none of which is always the best. What one costs follows the
   * shapes of pods and not their number. Where it is done again with other preferences, the usual
   * way and the best of before are enough.
   */
  packed(context: SearchContext): readonly Attempt[] {
    const { ways } = this;
    const found = ways === undefined ? this.inAllWays(context) : this.inWays(context, ways);
    if (ways === undefined) this.ways = this.usefulOf(found);
    return found.map(({ attempt }) => attempt);
  }

  private inWays(context: SearchContext, ways: readonly PackingWay[]): readonly Packed[] {
    return ways.flatMap((way) => {
      const attempt = packed(context, way, this.relaxations);
      return attempt === undefined ? [] : [{ way, attempt }];
    });
  }

  private inAllWays(context: SearchContext): readonly Packed[] {
    const { usual, budgets } = this;
    const revalued = { ...usual, revalues: true };
    const found = [...this.inWays(context, [usual, revalued])];
    const more = (...ways: readonly PackingWay[]) => found.push(...this.inWays(context, ways));
    if (costOf(cheapest(found)) < SEARCHED_COST_LEAST) return found;
    if (budgets.searched !== undefined) more({ ...budgets.searched, revalues: false });
    if (budgets.revalued !== undefined && isRevaluedLong(found, usual, revalued)) {
      more({ ...budgets.revalued, revalues: true });
    }
    if (budgets.combining !== undefined && hasMultiples(context)) {
      more(...combiningWays(found, usual, budgets.combining));
    }
    return found;
  }

  /** The usual way, and the best. */
  private usefulOf(found: readonly Packed[]): readonly PackingWay[] {
    const best = found.length === 0 ? undefined : bestOf(found.map(({ attempt }) => attempt));
    const ways = found.filter(({ attempt }) => attempt === best).map(({ way }) => way);
    return [...new Set([this.usual, ...ways])];
  }
}

/** Whether patterns are of use more than once: not where each pod has a shape of its own. */
function hasMultiples({ problem }: SearchContext): boolean {
  const shapes = new Set(problem.classes.map(({ requests }) => requests.join()));
  return problem.demand.pods.length >= MULTIPLE_LEAST * shapes.size;
}

function costOf(packed: Packed | undefined): number {
  return packed?.attempt.cost ?? Number.POSITIVE_INFINITY;
}

function cheapest(found: readonly Packed[]): Packed | undefined {
  return found.toSorted((a, b) => a.attempt.cost - b.attempt.cost)[0];
}

function isRevaluedLong(
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
function combiningWays(
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

/** How long one search may be for a plan of such a cost. */
function longSearch(
  { longSteps, longestLeast, longestPerUsd, longestMost }: CombiningBudget,
  cost: number,
): LongSearch {
  return { first: longSteps, longest: Math.min(longestMost, longestLeast + longestPerUsd * cost) };
}

/**
 * A packed plan, plans made pod by pod where that takes few steps, and plans that begin with what
 * is left over; all of them improved as the budgets say.
 */
export function attempts(context: SearchContext, known: Known): readonly Attempt[] {
  const { problem } = context;
  const { growing, improving, merging } = known.budgets;
  const found: Attempt[] = [...known.packed(context)];
  const add = (attempt: Attempt | undefined) => {
    if (attempt !== undefined) found.push(attempt);
  };
  add(grown(context, found.length > 0 ? { most: growing } : {}));
  const isUnfair = found.some((each) => isContested(each, problem));
  if (isUnfair) add(grown(context, { byPriority: true }));
  found.push(...new LeftOverFirst(context, known).after(found));
  const order = orderOf(context);
  return found.map((each) => {
    const better = improving === undefined ? each : improved(each, order, improving);
    return merging === undefined ? better : merged(better, merging);
  });
}

/** Whether a pod of the class would have a place if it were the only one. */
function hasPlace(empty: SearchState, resolved: ResolvedClass): boolean {
  const isNew = priceAlone(resolved.podClass, resolved.groups) < Number.POSITIVE_INFINITY;
  return (
    isNew ||
    suitableNodes(empty, resolved).some((existing) => empty.canPutOnNode(resolved, existing))
  );
}

/** Plans in which such pods as the best so far leaves over are placed before all others. */
class LeftOverFirst {
  private readonly context: SearchContext;
  private readonly known: Known;
  private steps = 0;

  constructor(context: SearchContext, known: Known) {
    this.context = context;
    this.known = known;
  }

  /**
   * Pods whose place depends on others come first and then, where steps are left, any that have a
   * place at all.
   */
  after(found: readonly Attempt[]): readonly Attempt[] {
    const tied = this.rounds(found, ({ hasTopology }) => hasTopology);
    if (this.steps >= this.known.budgets.leftOver) return tied;
    const empty = new SearchState(this.context);
    const placeable = (resolved: ResolvedClass) => hasPlace(empty, resolved);
    return [...tied, ...this.rounds([...found, ...tied], placeable)];
  }

  private rounds(
    found: readonly Attempt[],
    mayBeFirst: (resolved: ResolvedClass) => boolean,
  ): readonly Attempt[] {
    const { context } = this;
    const { leftOver } = this.known.budgets;
    const first = new Set<PodClass>();
    const more: Attempt[] = [];
    for (let round = 0; round === 0 || this.steps < leftOver; round++) {
      if (round >= FIRST_ROUNDS) break;
      const { state } = bestOf([...found, ...more]);
      const left = context.resolvedClasses.filter(
        (resolved) =>
          state.leftOf(resolved.podClass) > 0 &&
          !first.has(resolved.podClass) &&
          mayBeFirst(resolved),
      );
      if (left.length === 0) break;
      for (const { podClass } of left) first.add(podClass);
      more.push(...this.beginningWith(first));
    }
    return more;
  }

  private beginningWith(first: First): readonly Attempt[] {
    const { context, known } = this;
    const { growing, leftOver } = known.budgets;
    const packing = packed(context, known.usual, known.relaxations, first);
    this.steps += packing?.state.steps ?? 0;
    const growth = leftOver > 0 ? grown(context, { first, most: growing }) : undefined;
    this.steps += growth?.state.steps ?? growing;
    return [packing, growth].filter((each) => each !== undefined);
  }
}
