import { type Attempt, bestOf, compareAttempts, isContested } from './attempt.ts';
import type { StepBudgets } from './effort.ts';
import { grown, type Learnt, orderOf, packed, type Turns } from './one-attempt.ts';
import type { PackingWay, PlanSearch } from './packing/pack.ts';
import type { Relaxations } from './packing/pod-values.ts';
import { priceAlone } from './placing/assign.ts';
import { suitableNodes } from './placing/grow.ts';
import { improved } from './placing/improve.ts';
import { merged } from './placing/merge.ts';
import { PlanSteps } from './plan-steps.ts';
import type { PodClass } from './problem/problem.ts';
import { type ResolvedClass, type SearchContext, SearchState } from './search/search-state.ts';
import {
  cheapest,
  combiningSteps,
  combiningWays,
  costOf,
  isNearLinear,
  isRevaluedLong,
  likenessOf,
  type Packed,
  weightsOf,
} from './ways.ts';

/** How often what is left over is placed first, at most. */
const FIRST_ROUNDS = 5;

/** Patterns are combined where so large a share is left of the steps that it could take. */
const COMBINED_LEAST = 1 / 3;

/** Below this many USD an hour no more is searched than usual. */
const SEARCHED_COST_LEAST = 1;

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

  constructor(
    budgets: StepBudgets,
    relaxations: Relaxations,
    steps: PlanSteps = new PlanSteps(budgets.plan),
  ) {
    this.budgets = budgets;
    this.steps = steps;
    this.usual = { ...budgets.usual, revalues: false };
    this.relaxations = relaxations;
  }

  /**
   * The pods packed in several ways, none of which is always the best. What one costs follows the
   * shapes of pods and not their number. Where it is done again with other preferences, the usual
   * way and the best of before are enough.
   */
  packed(context: SearchContext, isTooDear: (attempt: Attempt) => boolean): readonly Attempt[] {
    const { ways } = this;
    const found =
      ways === undefined
        ? this.inAllWays(context)
        : this.inWays(context, ways, new Map(), [], isTooDear);
    if (ways === undefined) this.ways = this.usefulOf(found);
    return found.map(({ attempt }) => attempt);
  }

  /** Those for which steps are left, at least one of them; what one learns the next one knows. */
  private inWays(
    context: SearchContext,
    ways: readonly PackingWay[],
    quotas: Learnt,
    found: Packed[] = [],
    isTooDear: (attempt: Attempt) => boolean = () => false,
  ): Packed[] {
    for (const way of ways) {
      if (found.some(({ attempt }) => isTooDear(attempt))) break;
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
    const found: Packed[] = [];
    const more = (...ways: readonly PackingWay[]) => this.inWays(context, ways, quotas, found);
    more({ ...usual, dotProduct: true });
    if (found.some((each) => isNearLinear(each, context))) {
      if (likeness === 'alike' && combining !== undefined) {
        more(...combiningWays(found, usual, combining));
      }
      return found;
    }
    // Pods of as many shapes have other values from one node to the next.
    const together = likeness === 'alike' ? [usual, revalued] : [revalued, usual];
    // The values of all together take the steps of combining those that are alike.
    const apart = { ...usual, singlesLast: combining };
    const isApart = likeness === 'mixed' && combining !== undefined;
    more(...(isApart ? [apart] : together));
    if (costOf(cheapest(found)) < SEARCHED_COST_LEAST) return found;
    if (isApart) {
      more(...together);
      const ofApart = found.filter(({ way }) => way === apart);
      more(...combiningWays(ofApart, apart, combining));
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
 * is left over; all of them improved as the budgets say. Where a packed plan is too dear whatever
 * is done to it, there are no others.
 */
export function attempts(
  context: SearchContext,
  known: Known,
  isTooDear: (attempt: Attempt) => boolean = () => false,
): readonly Attempt[] {
  const { problem } = context;
  const { growing } = known.budgets;
  const { steps } = known;
  const found: Attempt[] = [...known.packed(context, isTooDear)];
  if (found.some(isTooDear)) return found;
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
  found.push(...leftOver.counted(found));
  return allImproved(found, orderOf(context), known, isTooDear);
}

/**
 * The attempts, improved: the cheapest first, and others by the steps that it leaves. Where pods
 * are left over there are twice the steps: how many improving makes room for is not known before.
 */
function allImproved(
  found: readonly Attempt[],
  order: readonly ResolvedClass[],
  { budgets: { improving, merging }, steps }: Known,
  isTooDear: (attempt: Attempt) => boolean,
): readonly Attempt[] {
  const usable = found.filter((each) => !isTooDear(each));
  const sorted = usable.toSorted(compareAttempts);
  const isShort = order.some(({ podClass }) => (sorted[0]?.state.leftOf(podClass) ?? 0) > 0);
  let most = (improving?.most ?? 0) * (isShort ? 2 : 1);
  const better = new Map<Attempt, Attempt>();
  for (const each of sorted) {
    const before = steps.taken;
    better.set(each, improving ? improved(each, order, { ...improving, most }, steps) : each);
    most -= steps.taken - before;
  }
  return found.map((each) => {
    const best = better.get(each);
    if (best === undefined) return each;
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

/**
 * What a USD an hour counts as a share of a limit, where as many pods as can be are placed: nearly
 * nothing, so that the price decides between equals only, and enough to leave out types that take
 * one pod more for many times the price. Of equally many pods the cheaper plan is taken.
 */
const PRICES_OF_LIMITS = [1e-6, 1e-3] as const;

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

  /** Plans that place as many pods as can be, where limits of NodePools keep some from nodes. */
  counted(found: readonly Attempt[]): readonly Attempt[] {
    const { resolvedClasses, budgets } = this.context;
    const { state } = bestOf(found);
    const isKept = resolvedClasses.some(
      ({ podClass, groups }) =>
        state.leftOf(podClass) > 0 &&
        groups.some(({ pool }) => budgets.remaining(pool.pool.name) !== undefined),
    );
    if (!isKept) return [];
    const [, ...others] = PRICES_OF_LIMITS;
    // Pods placed one by one know no such price: they are placed once.
    return [
      ...this.made({ counts: PRICES_OF_LIMITS[0] }),
      ...others.flatMap((counts) => this.packedBy({ counts }) ?? []),
    ];
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

  private packedBy(turns: Turns): Attempt | undefined {
    const { context, known } = this;
    const way = { ...known.usual, counts: turns.counts };
    const packing = packed(context, way, known, new Map(), turns);
    this.steps += packing?.state.steps ?? 0;
    return packing;
  }

  private made(turns: Turns): readonly Attempt[] {
    const { context, known } = this;
    const { steps } = known;
    const { growing, leftOver } = known.budgets;
    const packing = this.packedBy(turns);
    const growth = leftOver > 0 ? grown(context, { ...turns, most: growing, steps }) : undefined;
    this.steps += growth?.state.steps ?? growing;
    return [packing, growth].filter((each) => each !== undefined);
  }
}
