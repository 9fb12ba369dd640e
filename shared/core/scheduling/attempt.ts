import { missing } from '../missing.ts';
import { metByKind } from './plan/preference-score.ts';
import type { PreferenceKind, Problem } from './problem/problem.ts';
import type { Bin, ExistingNode, SearchContext, SearchState } from './search/search-state.ts';

/** A finished attempt and what it is judged by. */
export interface Attempt {
  readonly state: SearchState;
  readonly context: SearchContext;
  /** Pods placed, by priority from high to low. */
  readonly placed: readonly number[];
  /** USD an hour of the nodes. */
  readonly price: number;
  /** The price, and `nodePrice` for each node: what attempts are compared by. */
  readonly cost: number;
}

export function attemptOf(context: SearchContext, state: SearchState): Attempt {
  const priorities = [...new Set(context.problem.classes.map((each) => each.priority))].sort(
    (a, b) => b - a,
  );
  const placed = priorities.map((priority) =>
    context.problem.classes
      .filter((each) => each.priority === priority)
      .reduce((sum, each) => sum + each.pods.length - state.leftOf(each), 0),
  );
  const price = state.bins.reduce((sum, { chosen }) => sum + chosen.price, 0);
  const cost = price + state.bins.length * context.problem.settings.nodePrice;
  return { state, context, placed, price, cost };
}

/** Those that place more pods come first, higher priorities before lower ones. */
function comparePlaced(a: Attempt, b: Attempt): number {
  for (const [index, count] of a.placed.entries()) {
    const other = b.placed[index] ?? missing(index);
    if (count !== other) return other - count;
  }
  return 0;
}

/** Those that place more pods that matter more first, then the cheaper ones. */
export function compareAttempts(a: Attempt, b: Attempt): number {
  return comparePlaced(a, b) || a.cost - b.cost;
}

/** Whether `a` places more (higher priorities first), or the same for less, or on fewer nodes. */
export function isBetter(a: Attempt, b: Attempt): boolean {
  const placed = comparePlaced(a, b);
  if (placed !== 0) return placed < 0;
  if (Math.abs(a.cost - b.cost) > 1e-9) return a.cost < b.cost;
  return a.state.bins.length < b.state.bins.length && !losesMerit(meritOf(a), meritOf(b));
}

/** Pods are left over, and some matter more than others. */
export function isContested({ placed }: Attempt, { classes }: Problem): boolean {
  if (placed.length < 2) return false;
  const all = classes.reduce((sum, { pods }) => sum + pods.length, 0);
  return placed.reduce((sum, each) => sum + each, 0) < all;
}

export function bestOf(found: readonly Attempt[]): Attempt {
  return found.reduce((best, each) => (isBetter(each, best) ? each : best));
}

export function placesFewer(a: Attempt, b: Attempt): boolean {
  return a.placed.some((count, index) => count < (b.placed[index] ?? missing(index)));
}

/** By attempt: weight of the preferences that it meets. No attempt is changed once it is made. */
const metIn = new WeakMap<Attempt, Map<PreferenceKind, number>>();

function metOfAll(attempt: Attempt, kinds: Iterable<PreferenceKind>): readonly number[] {
  const asked = [...kinds];
  const known = metIn.get(attempt) ?? new Map<PreferenceKind, number>();
  metIn.set(attempt, known);
  const others = asked.filter((kind) => !known.has(kind));
  if (others.length > 0) {
    for (const [kind, met] of metByKind(attempt.state, others)) known.set(kind, met);
  }
  return asked.map((kind) => known.get(kind) ?? missing(kind));
}

/** Weight of the preferences of a kind that the attempt meets. */
export function metOf(attempt: Attempt, kind: PreferenceKind): number {
  const [met = 0] = metOfAll(attempt, [kind]);
  return met;
}

/** How well a plan does, beyond the pods that it places and its price. */
export interface Merit {
  /** Pods by the weight of their NodePools: existing nodes count as the heaviest. */
  readonly weight: number;
  /** For each kind of preferences that is wanted, what is met. */
  readonly met: readonly number[];
}

export function meritOf(attempt: Attempt): Merit {
  const { context, state } = attempt;
  const [heaviest = 0] = context.weights;
  const podsOf = ({ content }: Bin | ExistingNode) =>
    [...content.values()].reduce((sum, amount) => sum + amount, 0);
  const isPlain = context.weights.length < 2;
  const weight = isPlain
    ? 0
    : [
        ...state.existingNodes.map((existing) => podsOf(existing) * heaviest),
        ...state.bins.map((bin) => podsOf(bin) * bin.chosen.pool.pool.weight),
      ].reduce((sum, each) => sum + each, 0);
  return { weight, met: metOfAll(attempt, context.enforced.kinds) };
}

/** Whether less of what counts beyond the price is met. */
export function losesMerit(now: Merit, was: Merit): boolean {
  return now.weight < was.weight || now.met.some((each, at) => each < (was.met[at] ?? missing(at)));
}
