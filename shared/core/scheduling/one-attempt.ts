import { type Attempt, attemptOf } from './attempt.ts';
import { type PackingWay, type PlanSearch, packBatches } from './packing/pack.ts';
import { assignDomains, fillExisting, type PodBatch, type Quotas } from './placing/assign.ts';
import { byRequests, grow } from './placing/grow.ts';
import { rightSize } from './placing/right-size.ts';
import type { PlanSteps } from './plan-steps.ts';
import type { PodClass } from './problem/problem.ts';
import { type ResolvedClass, type SearchContext, SearchState } from './search/search-state.ts';

/** What is placed out of the usual order. */
export interface Turns {
  /** Classes that are placed before all others. */
  readonly first?: ReadonlySet<PodClass>;
  /**
   * Classes that others need on their node. They come last, the ones that need them just before,
   * and all that needs nobody before both: otherwise pods of these classes fill the existing nodes.
   */
  readonly company?: ReadonlySet<PodClass>;
  /**
   * As many pods as limits of NodePools let be placed: smaller ones come first. What a USD an hour
   * counts as a share of a limit.
   */
  readonly counts?: number;
}

/** The order in which classes are placed: as their turns say, then by size. */
export function orderOf(
  { problem, resolvedClasses }: SearchContext,
  { first = new Set(), company = new Set(), counts }: Turns = {},
): readonly ResolvedClass[] {
  const order = resolvedClasses.toSorted(byRequests(problem.resources));
  if (counts !== undefined) return order.reverse();
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
export type Learnt = Map<ResolvedClass, Map<number, number>>;

/** Tries to learn how much the limits of heavier pools leave for each class. */
const QUOTA_ROUNDS = 4;

/**
 * Pods whose place depends on others are given to pools before those are filled. Where a limit then
 * leaves some of them over, all is done again with what was learnt, here and by other ways to pack;
 * undefined: without success.
 */
export function packed(
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
