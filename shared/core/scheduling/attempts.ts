import { type Attempt, attemptOf, bestOf, isContested } from './attempt.ts';
import { type Effort, packBatches } from './packing/pack.ts';
import { Relaxations } from './packing/pod-values.ts';
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

/**
 * How often what is left over is placed first; of many pods once, since others are packed already.
 */
const FIRST_ROUNDS = 5;

/** Up to so many pods a plan is also made in other ways, in case one is better. */
const GROWN_MAX = 2000;

const USUAL_EFFORT: Effort = { revalues: false, searchSteps: 1000, searchedMax: 500_000 };
const REVALUED: Effort = { ...USUAL_EFFORT, revalues: true };
const SEARCHED: Effort = { ...USUAL_EFFORT, searchSteps: 10_000 };

/** Of a longer search that revalues: where revaluing was cheaper than the usual way by a share. */
const LONG_REVALUED: Effort = { revalues: true, searchSteps: 30_000, searchedMax: 4_000_000 };
const REVALUED_GAIN_LEAST = 0.03;

/** Plans of so many USD an hour are worth a longer search: a percent of less is not. */
const LONG_REVALUED_COST_LEAST = 5;
const REHEARSED_COST_LEAST = 200;

/** Patterns looked at while they are combined: more for plans that cost more, within bounds. */
const COMBINING_STEPS = { least: 800_000, perUsd: 1000, most: 16_000_000 };

/** Patterns are combined where there are so many pods of a shape, in the mean. */
const MULTIPLE_LEAST = 2;

/** Below this many USD an hour no more is searched than usual. */
const SEARCHED_COST_LEAST = 1;

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

/** Pod by pod; with `byPriority` no pod is placed before one that matters more. */
export function grown(
  context: SearchContext,
  byPriority = false,
  first: First = new Set(),
): Attempt {
  const state = new SearchState(context);
  const order = orderOf(context, first);
  grow(
    state,
    byPriority ? order.toSorted((a, b) => b.podClass.priority - a.podClass.priority) : order,
  );
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
  effort: Effort,
  relaxations: Relaxations,
  first: First = new Set(),
): Attempt | undefined {
  const quotas = new Map<ResolvedClass, Map<number, number>>();
  for (let round = 0; round < QUOTA_ROUNDS; round++) {
    const { attempt, over } = packOnce(
      context,
      orderOf(context, first),
      quotas,
      effort,
      relaxations,
    );
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
  effort: Effort,
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
  packBatches(state, [...batches, ...rest], effort, relaxations);
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

/** An effort, and the plan that it made. */
interface Packed {
  readonly effort: Effort;
  readonly attempt: Attempt;
}

/** What is known of a problem from other attempts at it. */
export class Known {
  readonly relaxations = new Relaxations();
  /** Efforts that are worth it; undefined: none was tried yet. */
  private efforts: readonly Effort[] | undefined;

  /**
   * The pods packed in several ways, none of which is always the best. What one costs follows the
   * shapes of pods and not their number. Where it is done again with other preferences, the usual
   * way and the best of before are enough.
   */
  packed(context: SearchContext): readonly Attempt[] {
    const found: Packed[] = [];
    const pack = (effort: Effort): void => {
      const attempt = packed(context, effort, this.relaxations);
      if (attempt !== undefined) found.push({ effort, attempt });
    };
    if (this.efforts !== undefined) for (const effort of this.efforts) pack(effort);
    else {
      pack(USUAL_EFFORT);
      pack(REVALUED);
      if (costOf(cheapest(found)) >= SEARCHED_COST_LEAST) {
        pack(SEARCHED);
        if (isRevaluedLong(found)) pack(LONG_REVALUED);
        if (hasMultiples(context)) pack(combiningEffort(found));
      }
      this.efforts = usefulOf(found);
    }
    return found.map(({ attempt }) => attempt);
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

function isRevaluedLong(found: readonly Packed[]): boolean {
  const of = (asked: Effort) => costOf(found.find(({ effort }) => effort === asked));
  return (
    of(REVALUED) >= LONG_REVALUED_COST_LEAST &&
    of(REVALUED) <= of(USUAL_EFFORT) * (1 - REVALUED_GAIN_LEAST)
  );
}

/**
 * Patterns of all other ways are combined, and what is left is packed in the cheapest way: what
 * that costs follows the shapes of pods and the money at stake.
 */
function combiningEffort(found: readonly Packed[]): Effort {
  const least = cheapest(found);
  const cost = costOf(least);
  const { least: steps, perUsd, most } = COMBINING_STEPS;
  const stepsMax = Math.min(most, steps + perUsd * cost);
  const rehearsal = { searchSteps: 30_000, searchedMax: 4_000_000 };
  const combining = cost < REHEARSED_COST_LEAST ? { stepsMax } : { stepsMax, rehearsal };
  return { ...(least?.effort ?? SEARCHED), combining };
}

/** The usual effort, and the best. */
function usefulOf(found: readonly Packed[]): readonly Effort[] {
  const best = found.length === 0 ? undefined : bestOf(found.map(({ attempt }) => attempt));
  const efforts = found.filter(({ attempt }) => attempt === best).map(({ effort }) => effort);
  return [...new Set([USUAL_EFFORT, ...efforts])];
}

/** A packed plan and, where pods are few or left over, plans made pod by pod. */
export function attempts(context: SearchContext, known: Known): readonly Attempt[] {
  const { problem } = context;
  const { relaxations } = known;
  const isSmall = problem.demand.pods.length <= GROWN_MAX;
  const found: Attempt[] = [...known.packed(context)];
  if (isSmall || found.length === 0) found.push(grown(context));
  const isUnfair = found.some((each) => isContested(each, problem));
  if (isUnfair) found.push(grown(context, true));
  found.push(...withLeftOverFirst(context, found, relaxations));
  return found.map((each) => merged(improved(each, orderOf(context))));
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
function firstRounds(
  context: SearchContext,
  found: readonly Attempt[],
  relaxations: Relaxations,
  mayBeFirst: (resolved: ResolvedClass) => boolean,
): readonly Attempt[] {
  const isSmall = context.problem.demand.pods.length <= GROWN_MAX;
  const first = new Set<PodClass>();
  const more: Attempt[] = [];
  for (let round = 0; round < (isSmall ? FIRST_ROUNDS : 1); round++) {
    const { state } = bestOf([...found, ...more]);
    const left = context.resolvedClasses.filter(
      (resolved) =>
        state.leftOf(resolved.podClass) > 0 &&
        !first.has(resolved.podClass) &&
        mayBeFirst(resolved),
    );
    if (left.length === 0) break;
    for (const { podClass } of left) first.add(podClass);
    const attempt = packed(context, USUAL_EFFORT, relaxations, first);
    if (attempt !== undefined) more.push(attempt);
    if (isSmall) more.push(grown(context, false, first));
  }
  return more;
}

/**
 * Plans for what is left over: pods whose place depends on others come first in them and then, of
 * few pods, any that have a place at all.
 */
function withLeftOverFirst(
  context: SearchContext,
  found: readonly Attempt[],
  relaxations: Relaxations,
): readonly Attempt[] {
  const tied = firstRounds(context, found, relaxations, ({ hasTopology }) => hasTopology);
  if (context.problem.demand.pods.length > GROWN_MAX) return tied;
  const empty = new SearchState(context);
  const all = [...found, ...tied];
  return [
    ...tied,
    ...firstRounds(context, all, relaxations, (resolved) => hasPlace(empty, resolved)),
  ];
}
