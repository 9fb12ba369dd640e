import { preferenceScore } from './plan/preference-score.ts';
import type { PreferenceKind, Problem } from './problem/problem.ts';
import type { Ground, World } from './world/world.ts';

/** A finished attempt and what it is judged by. */
export interface Attempt {
  readonly world: World;
  readonly ground: Ground;
  /** Pods placed, by priority from high to low. */
  readonly placed: readonly number[];
  readonly price: number;
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
  return { world, ground, placed, price: world.bins.reduce((sum, bin) => sum + bin.held.price, 0) };
}

/** Whether `a` places more (higher priorities first), or the same for less, or on fewer nodes. */
export function isBetter(a: Attempt, b: Attempt): boolean {
  for (const [index, count] of a.placed.entries()) {
    if (count !== b.placed[index]) return count > (b.placed[index] ?? 0);
  }
  if (Math.abs(a.price - b.price) > 1e-9) return a.price < b.price;
  return a.world.bins.length < b.world.bins.length;
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
