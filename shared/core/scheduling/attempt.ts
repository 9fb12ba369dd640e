import { preferenceScore } from './plan/preference-score.ts';
import type { PreferenceKind, Problem } from './problem/problem.ts';
import type { Bin, Ground, NodeRoom, World } from './world/world.ts';

/** A finished attempt and what it is judged by. */
export interface Attempt {
  readonly world: World;
  readonly ground: Ground;
  /** Pods placed, by priority from high to low. */
  readonly placed: readonly number[];
  /** USD an hour of the nodes. */
  readonly price: number;
  /** The price, and `nodePrice` for each node: what attempts are compared by. */
  readonly cost: number;
}

export function attemptOf(ground: Ground, world: World): Attempt {
  const priorities = [...new Set(ground.problem.classes.map((each) => each.priority))].sort(
    (a, b) => b - a,
  );
  const placed = priorities.map((priority) =>
    ground.problem.classes
      .filter((each) => each.priority === priority)
      .reduce((sum, each) => sum + each.pods.length - world.leftOf(each), 0),
  );
  const price = world.bins.reduce((sum, { held }) => sum + held.price, 0);
  const cost = price + world.bins.length * ground.problem.settings.nodePrice;
  return { world, ground, placed, price, cost };
}

/** Whether `a` places more (higher priorities first), or the same for less, or on fewer nodes. */
export function isBetter(a: Attempt, b: Attempt): boolean {
  for (const [index, count] of a.placed.entries()) {
    if (count !== b.placed[index]) return count > (b.placed[index] ?? 0);
  }
  if (Math.abs(a.cost - b.cost) > 1e-9) return a.cost < b.cost;
  return a.world.bins.length < b.world.bins.length && !losesMerit(meritOf(a), meritOf(b));
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
  return a.placed.some((count, index) => count < (b.placed[index] ?? 0));
}

/** Weight of the preferences of a kind that the attempt meets. */
export function metOf({ world }: Attempt, kind: PreferenceKind): number {
  return preferenceScore(world, kind).satisfiedWeight;
}

/** How well a plan does, beyond the pods that it places and its price. */
export interface Merit {
  /** Pods by the weight of their NodePools: existing nodes count as the heaviest. */
  readonly weight: number;
  /** For each kind of preferences that is wanted, what is met. */
  readonly met: readonly number[];
}

export function meritOf(attempt: Attempt): Merit {
  const { ground, world } = attempt;
  const [heaviest = 0] = ground.weights;
  const podsOf = ({ content }: Bin | NodeRoom) =>
    [...content.values()].reduce((sum, amount) => sum + amount, 0);
  const isPlain = ground.weights.length < 2;
  const weight = isPlain
    ? 0
    : [
        ...world.rooms.map((room) => podsOf(room) * heaviest),
        ...world.bins.map((bin) => podsOf(bin) * bin.held.pool.pool.weight),
      ].reduce((sum, each) => sum + each, 0);
  return { weight, met: [...ground.wishes.kinds].map((kind) => metOf(attempt, kind)) };
}

/** Whether less of what counts beyond the price is met. */
export function losesMerit(now: Merit, was: Merit): boolean {
  return now.weight < was.weight || now.met.some((each, at) => each < (was.met[at] ?? 0));
}
