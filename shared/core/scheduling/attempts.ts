import { type Attempt, attemptOf, bestOf, compareAttempts, isContested } from './attempt.ts';
import type { StepBudgets } from './effort.ts';
import { type PackingWay, type PlanSearch, packBatches } from './packing/pack.ts';
import type { Relaxations } from './packing/pod-values.ts';
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
import { PlanSteps } from './plan-steps.ts';
import type { PodClass } from './problem/problem.ts';
import { type ResolvedClass, type SearchContext, SearchState } from './search/search-state.ts';
import {
  cheapest,
  combiningSteps,
  combiningWays,
  costOf,
  isRevaluedLong,
  likenessOf,
  type Packed,
  weightsOf,
} from './ways.ts';

/** Classes that are placed before all others. */
type First = ReadonlySet<PodClass>;

/** How often what is left over is placed first, at most. */
const FIRST_ROUNDS = 5;

/** Patterns are combined where so large a share is left of the steps that it could take. */
const COMBINED_LEAST = 1 / 3;

/** Below this many USD an hour no more is searched than usual. */
const SEARCHED_COST_LEAST = 1;

/** What is placed out of the usual order. */
interface Turns {
  readonly first?: First;
  /**
   * Pods that others need on their node: those others come just before them, and all that needs no
   * company before both, so that what is on existing nodes is not the company.
   */
  readonly company?: First;
}

/** The order in which classes are placed: as their turns say, then by size. */
function orderOf(
  { problem, resolvedClasses }: SearchContext,
  { first = new Set(), company = new Set() }: Turns = {},
): readonly ResolvedClass[] {
  const order = resolvedClasses.toSorted(byRequests(problem.resources));
  if (first.size + company.size === 0) return order;
  const turnOf = ({ podClass, host: { needs } }: ResolvedClass): number => {
    if (company.has(podClass)) return 3;
    if (company.size > 0 && needs.length > 0) return 2;
    return first.has(podClass) ? 0 : 1;
  };
  return order.toSorted((a, b) => turnOf(a) - turnOf(b));
}

/** How pods are placed one by one. */
interface Growing extends Turns {
  /** No pod is placed before one that matters more. */
  readonly byPriority?: boolean;
  /** Launches looked at, at most; undefined: as many as a plan may. */
  readonly most?: number;
  /** What they are drawn from. */
  readonly steps?: PlanSteps;
}

/** Pod by pod; undefined: that takes too many steps. */
export function grown(
  context: SearchContext,
  { byPriority = false, most, steps, ...turns }: Growing = {},
): Attempt | undefined {
  const state = new SearchState(context);
  const bySize = orderOf(context, turns);
  const byImportance = (a: ResolvedClass, b: ResolvedClass) =>
    b.podClass.priority - a.podClass.priority;
  const order = byPriority ? bySize.toSorted(byImportance) : bySize;
  const isWhole = grow(state, order, order, most);
  steps?.take(state.steps);
  if (!isWhole) return undefined;
  rightSize(state);
  return attemptOf(context, state);
}

/** By class: how many of its pods the pools of a weight could take before. */
type Learnt = Map<ResolvedClass, Map<number, number>>;

/** Tries to learn how much the limits of heavier pools leave for each class. */
const QUOTA_ROUNDS = 4;

/**
 * Pods whose place depends on others are given to pools before those are filled. Where a limit then
 * leaves some of them over, all is done again with what was learnt, here and by other ways to pack;
 * undefined: without success.
 */
function packed(
  context: SearchContext,
  way: PackingWay,
  search: PlanSearch,
  quotas: Learnt,
  turns: Turns = {},
): Attempt | undefined {
  for (let round = 0; round < QUOTA_ROUNDS; round++) {
    const state = new SearchState(context);
    const { attempt, over } = packOnce(state, turns, quotas, way, search);
    search.steps.take(state.steps);
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
  state: SearchState,
  turns: Turns,
  quotas: Quotas,
  way: PackingWay,
  search: PlanSearch,
): Packing {
  const order = orderOf(state.context, turns);
  const { company = new Set() } = turns;
  const isTogether = (resolved: ResolvedClass) => resolved.host.needs.length > 0;
  const isStuck = (resolved: ResolvedClass) =>
    resolved.groups.length === 0 && !resolved.hasTopology && !isTogether(resolved);
  const alone = order.filter((resolved) => !isTogether(resolved) && !isStuck(resolved));
  const place = (placed: readonly ResolvedClass[]) => ({
    batches: assignDomains(
      state,
      placed.filter(({ hasTopology }) => hasTopology),
      quotas,
    ),
    rest: fillExisting(
      state,
      placed.filter(({ hasTopology }) => !hasTopology),
    ),
  });
  fillExisting(state, order.filter(isStuck));
  const apart = company.size === 0 ? [] : alone.filter(({ podClass }) => !company.has(podClass));
  const before = place(apart);
  grow(state, order.filter(isTogether), order);
  const after = place(alone);
  const batches = [...before.batches, ...after.batches];
  const given = new Map(batches.map((batch) => [batch, batch.count]));
  packBatches(state, [...batches, ...before.rest, ...after.rest], way, search);
  if (batches.some((batch) => batch.count > 0)) {
    return { attempt: undefined, over: overfull(batches, given) };
  }
  grow(state, order.filter(isTogether), order);
  rightSize(state);
  return { attempt: attemptOf(state.context, state), over: [] };
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

/** What is known of a problem from other attempts at it, which share the steps of one plan. */
export class Known implements PlanSearch {
  readonly budgets: StepBudgets;
  readonly steps: PlanSteps;
  readonly usual: PackingWay;
  readonly relaxations: Relaxations;
  /** Ways that are worth it; undefined: none was tried yet. */
  private ways: readonly PackingWay[] | undefined;
  /** Steps that the first way took: others are not begun with fewer. */
  private least = 0;

  constructor(budgets: StepBudgets, relaxations: Relaxations) {
    this.budgets = budgets;
    this.steps = new PlanSteps(budgets.plan);
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
    const found =
      ways === undefined ? this.inAllWays(context) : this.inWays(context, ways, new Map());
    if (ways === undefined) this.ways = this.usefulOf(found);
    return found.map(({ attempt }) => attempt);
  }

  /** Those for which steps are left, at least one of them; what one learns the next one knows. */
  private inWays(
    context: SearchContext,
    ways: readonly PackingWay[],
    quotas: Learnt,
    found: Packed[] = [],
  ): Packed[] {
    for (const way of ways) {
      const { left, taken } = this.steps;
      const combining = COMBINED_LEAST * combiningSteps(way) * weightsOf(cheapest(found));
      if (found.length > 0 && left < Math.max(this.least, combining)) continue;
      const attempt = packed(context, way, this, quotas);
      if (this.least === 0) this.least = this.steps.taken - taken;
      if (attempt !== undefined) found.push({ way, attempt });
    }
    return found;
  }

  private inAllWays(context: SearchContext): readonly Packed[] {
    const { usual, budgets } = this;
    const revalued = { ...usual, revalues: true };
    const quotas: Learnt = new Map();
    const { combining } = budgets;
    const likeness = likenessOf(context);
    const isApart = likeness === 'mixed' && combining !== undefined;
    const apart = { ...usual, singlesLast: combining };
    // Pods of as many shapes have other values from one node to the next.
    const together = likeness === 'alike' ? [usual, revalued] : [revalued, usual];
    // The values of all together take the steps of combining those that are alike.
    const found = this.inWays(context, isApart ? [apart] : together, quotas);
    const more = (...ways: readonly PackingWay[]) => this.inWays(context, ways, quotas, found);
    if (costOf(cheapest(found)) < SEARCHED_COST_LEAST) return found;
    if (isApart) {
      more(...together);
      more(...combiningWays(found.slice(0, 1), apart, combining));
    }
    if (budgets.searched !== undefined) more({ ...budgets.searched, revalues: false });
    if (budgets.revalued !== undefined && isRevaluedLong(found, usual, revalued)) {
      more({ ...budgets.revalued, revalues: true });
    }
    if (combining !== undefined && likeness === 'alike') {
      more(...combiningWays(found, usual, combining));
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

/**
 * A packed plan, plans made pod by pod where that takes few steps, and plans that begin with what
 * is left over; all of them improved as the budgets say.
 */
export function attempts(context: SearchContext, known: Known): readonly Attempt[] {
  const { problem } = context;
  const { growing } = known.budgets;
  const { steps } = known;
  const found: Attempt[] = [...known.packed(context)];
  const add = (attempt: Attempt | undefined) => {
    if (attempt !== undefined) found.push(attempt);
  };
  const bounded = { most: steps.allowance(growing), steps };
  add(grown(context, found.length > 0 ? bounded : { steps }));
  const isUnfair = found.some((each) => isContested(each, problem));
  if (isUnfair) add(grown(context, { byPriority: true, steps }));
  const leftOver = new LeftOver(context, known);
  found.push(...leftOver.first(found));
  found.push(...leftOver.withCompany(found));
  return allImproved(found, orderOf(context), known);
}

/** The attempts, improved: the cheapest first, and others by the steps that it leaves. */
function allImproved(
  found: readonly Attempt[],
  order: readonly ResolvedClass[],
  { budgets: { improving, merging }, steps }: Known,
): readonly Attempt[] {
  let most = improving?.most ?? 0;
  const better = new Map<Attempt, Attempt>();
  for (const each of found.toSorted(compareAttempts)) {
    const before = steps.taken;
    better.set(each, improving ? improved(each, order, { ...improving, most }, steps) : each);
    most -= steps.taken - before;
  }
  return found.map((each) => {
    const best = better.get(each) ?? each;
    return merging === undefined ? best : merged(best, merging, steps);
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

/** Plans in which such pods as the best so far leaves over are placed in another order. */
class LeftOver {
  private readonly context: SearchContext;
  private readonly known: Known;
  private steps = 0;

  constructor(context: SearchContext, known: Known) {
    this.context = context;
    this.known = known;
  }

  /**
   * Before all others: those whose place depends on others and then, where steps are left, any that
   * have a place at all.
   */
  first(found: readonly Attempt[]): readonly Attempt[] {
    const tied = this.rounds(found, ({ hasTopology }) => hasTopology);
    if (this.steps >= this.known.budgets.leftOver) return tied;
    const empty = new SearchState(this.context);
    const placeable = (resolved: ResolvedClass) => hasPlace(empty, resolved);
    return [...tied, ...this.rounds([...found, ...tied], placeable)];
  }

  /** Plans in which others go to existing nodes before the pods that those left over need. */
  withCompany(found: readonly Attempt[]): readonly Attempt[] {
    const { resolvedClasses } = this.context;
    const { state } = bestOf(found);
    const wanted = new Set(
      resolvedClasses
        .filter(({ podClass }) => state.leftOf(podClass) > 0)
        .flatMap(({ host }) => host.needs.map(({ selector }) => selector)),
    );
    const company = resolvedClasses.filter(
      ({ podClass, host }) =>
        host.needs.length === 0 && podClass.matching.some((id) => wanted.has(id)),
    );
    if (company.length === 0) return [];
    return this.made({ company: new Set(company.map(({ podClass }) => podClass)) });
  }

  private rounds(
    found: readonly Attempt[],
    mayBeFirst: (resolved: ResolvedClass) => boolean,
  ): readonly Attempt[] {
    const { context } = this;
    const { leftOver } = this.known.budgets;
    const first = new Set<PodClass>();
    const more: Attempt[] = [];
    const isMore = () => this.steps < leftOver && this.known.steps.left > 0;
    for (let round = 0; round === 0 || (round < FIRST_ROUNDS && isMore()); round++) {
      const { state } = bestOf([...found, ...more]);
      const left = context.resolvedClasses.filter(
        (resolved) =>
          state.leftOf(resolved.podClass) > 0 &&
          !first.has(resolved.podClass) &&
          mayBeFirst(resolved),
      );
      if (left.length === 0) break;
      for (const { podClass } of left) first.add(podClass);
      more.push(...this.made({ first }));
    }
    return more;
  }

  private made(turns: Turns): readonly Attempt[] {
    const { context, known } = this;
    const { steps } = known;
    const { growing, leftOver } = known.budgets;
    const packing = packed(context, known.usual, known, new Map(), turns);
    this.steps += packing?.state.steps ?? 0;
    const growth = leftOver > 0 ? grown(context, { ...turns, most: growing, steps }) : undefined;
    this.steps += growth?.state.steps ?? growing;
    return [packing, growth].filter((each) => each !== undefined);
  }
}
