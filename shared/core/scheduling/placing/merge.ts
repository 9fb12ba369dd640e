import { type Attempt, attemptOf, losesMerit, meritOf, placesFewer } from '../attempt.ts';
import type { Column } from '../problem/columns.ts';
import type { Bin, World } from '../world/world.ts';
import { IMPROVED_MAX, isSound } from './improve.ts';
import { frontOf } from './retype.ts';

/** Pairs of unlike nodes looked at in all, and plans made of them. */
const LOOKS_MAX = 2000;
const TRIES_MAX = 200;

/** Launches tried for one pair. */
const LAUNCHES_MAX = 4;

/** Nodes of one text are alike. */
function textOf({ held, content }: Bin): string {
  const pods = [...content].map(([{ id }, amount]) => `${id}:${amount}`).sort();
  return `${held.group.id}|${held.price}|${pods.join()}`;
}

/** The pods of both on one node of the column; undefined: they cannot be there together. */
function mergedOn(world: World, pair: readonly [Bin, Bin], column: Column): World | undefined {
  const copy = world.without(new Set<Bin>(pair));
  if (copy.budgets.allowance(column, 1) < 1) return undefined;
  const bin = copy.open({ penalty: 0, columns: [column] });
  for (const [{ id }, amount] of pair.flatMap(({ content }) => [...content])) {
    const view = copy.ground.views[id];
    for (let pod = 0; pod < amount; pod++) {
      const choice = view === undefined ? undefined : copy.choiceInBin(view, bin);
      if (view === undefined || choice === undefined) return undefined;
      copy.putInBin(view, bin, choice);
    }
  }
  // In the place of the first: pods are given to nodes in their order, and heavier pools come first.
  copy.bins.pop();
  copy.bins.splice(world.bins.indexOf(pair[0]), 0, bin);
  return copy;
}

/** No dearer, with as many pods and preferences: what merging must not lose. */
function isAsGood(found: Attempt, before: Attempt): boolean {
  if (placesFewer(found, before) || found.cost > before.cost + 1e-9) return false;
  if (!isSound(found.world)) return false;
  return !losesMerit(meritOf(found), meritOf(before));
}

/** Tries pairs one after the other; those that did not do are not tried again. */
class Merging {
  private readonly vain = new Set<string>();
  private readonly fronts = new Map<number, readonly Column[]>();
  private looks = 0;
  private tries = 0;

  /** The plan with some two nodes made one; undefined: no two can be. */
  next(before: Attempt): Attempt | undefined {
    const bins = before.world.bins.map((bin) => [bin, textOf(bin)] as const);
    for (const [index, [first, own]] of bins.entries()) {
      for (const [second, other] of bins.slice(index + 1)) {
        if (this.tries >= TRIES_MAX || this.looks >= LOOKS_MAX) return undefined;
        const text = own < other ? `${own}\n${other}` : `${other}\n${own}`;
        if (this.vain.has(text)) continue;
        this.looks += 1;
        const found = this.together(before, first, second);
        if (found !== undefined) return found;
        this.vain.add(text);
      }
    }
    return undefined;
  }

  private together(before: Attempt, first: Bin, second: Bin): Attempt | undefined {
    const { weight } = first.held.pool.pool;
    if (second.held.pool.pool.weight !== weight) return undefined;
    const { nodePrice } = before.ground.problem.settings;
    const most = first.held.price + second.held.price + nodePrice + 1e-9;
    const used = first.used.map((amount, r) => amount + (second.used[r] ?? 0));
    const front = this.fronts.get(weight) ?? frontOf(before.world, weight);
    this.fronts.set(weight, front);
    const launches = front.filter(
      ({ price, room }) => price <= most && used.every((amount, r) => amount <= (room[r] ?? 0)),
    );
    for (const column of launches.slice(0, LAUNCHES_MAX)) {
      this.tries += 1;
      const world = mergedOn(before.world, [first, second], column);
      if (world === undefined) continue;
      const found = attemptOf(before.ground, world);
      if (isAsGood(found, before)) return found;
    }
    return undefined;
  }
}

/**
 * Of plans of one price the one with fewer nodes: two nodes become one where that costs no more.
 * Small plans only, as all that is improved.
 */
export function merged(start: Attempt): Attempt {
  if (start.ground.problem.demand.pods.length > IMPROVED_MAX) return start;
  const merging = new Merging();
  let best = start;
  for (let left = start.world.bins.length; left > 1; left--) {
    const found = merging.next(best);
    if (found === undefined) break;
    best = found;
  }
  return best;
}
