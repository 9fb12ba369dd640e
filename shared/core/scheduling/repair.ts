import { CPU, MEMORY } from '../model/resources.ts';
import { type Column, compareColumns } from './columns.ts';
import { minValuesOf } from './min-values.ts';
import { type JoinOrder, Playback } from './playback.ts';
import type { PodClass } from './problem.ts';
import { numbers, shuffled } from './pseudo-random.ts';
import { frontOf, hold, isAlternative } from './retype.ts';
import type { Bin, ClassView, World } from './world.ts';

/** In how many batches the nodes join, for each order that is played back. */
const BATCHES = [1, 10, 1, 3, 10] as const;

/** Orders that are played to see where capacity is short; the finished plan is played in all. */
const GUIDES = 2;

/** Times that capacity is added and the plan played back again. */
const ROUNDS_MAX = 2;

/** Nodes looked at, of all pods in one order: larger plans are not played back. */
const LOOKS_MAX = 1_000_000;

/** Share of the plan's price that repair may add. */
const REPAIR_WORTH = 0.03;

/** What playing a plan back found. */
export interface Stranded {
  /** Join orders that were played. */
  readonly orders: number;
  /** Pods left over, in all orders together. */
  readonly pods: number;
}

/** A shuffle of the plan's bins for each of BATCHES. */
function joinOrders(count: number): readonly JoinOrder[] {
  return BATCHES.map((batches, seed) => {
    const bins = shuffled(
      Array.from({ length: count }, (_, index) => index),
      numbers(seed),
    );
    return { bins, batches };
  });
}

/** What playing the plan back in every order leaves over. */
interface Outcome extends Stranded {
  /** Of each class, as many as in the worst order for it. */
  readonly worst: ReadonlyMap<PodClass, number>;
  readonly steps: number;
}

function play(world: World, orders: readonly JoinOrder[]): Outcome {
  const playback = new Playback(world);
  const worst = new Map<PodClass, number>();
  let pods = 0;
  for (const order of orders) {
    for (const [podClass, count] of playback.run(order)) {
      pods += count;
      worst.set(podClass, Math.max(count, worst.get(podClass) ?? 0));
    }
  }
  return { orders: orders.length, pods, worst, steps: playback.steps };
}

/** A larger launch for a bin. */
interface Enlargement {
  readonly bin: Bin;
  readonly column: Column;
  readonly price: number;
  /** Price for the share of what is needed that its additional room could take. */
  readonly costOfGain: number;
}

/**
 * Gives bins larger launches, those first that add what stranded pods need for the least money.
 * Pools with minValues are left alone: a larger bin keeps fewer types open.
 */
class Enlarging {
  private readonly world: World;
  /** What the stranded pods request, in all. */
  private readonly need: Float64Array;
  private readonly left: Float64Array;
  private readonly main: readonly number[];

  constructor(world: World, worst: ReadonlyMap<PodClass, number>) {
    this.world = world;
    this.need = new Float64Array(world.ground.problem.resources.length);
    for (const [{ requests }, count] of worst) {
      for (let r = 0; r < requests.length; r++) {
        this.need[r] = (this.need[r] ?? 0) + count * (requests[r] ?? 0);
      }
    }
    this.left = this.need.slice();
    this.main = [CPU, MEMORY]
      .map((name) => world.ground.problem.resources.indexOf(name))
      .filter((r) => r >= 0);
  }

  /** Returns what it cost. */
  run(worst: ReadonlyMap<PodClass, number>, money: number): number {
    const { world } = this;
    const groups = new Uint8Array(world.ground.problem.groups.length);
    for (const { id } of worst.keys()) {
      const { allowed } = world.ground.views[id] as ClassView;
      for (let group = 0; group < groups.length; group++) {
        if (allowed[group] === 1) groups[group] = 1;
      }
    }
    const fronts = new Map(
      world.ground.weights.map((each) => [
        each,
        frontOf(world, each).filter((column) => groups[column.group.id] === 1),
      ]),
    );
    const found = world.bins
      .filter((bin) => minValuesOf(bin.held.pool.pool).size === 0)
      .flatMap((bin) => this.best(bin, fronts.get(bin.held.pool.pool.weight) ?? [], money) ?? [])
      .sort((a, b) => a.costOfGain - b.costOfGain || compareColumns(a.column, b.column));
    let spent = 0;
    for (const each of found) {
      if (this.main.every((r) => (this.left[r] ?? 0) <= 0)) break;
      if (spent + each.price <= money && this.apply(each)) spent += each.price;
    }
    return spent;
  }

  private apply({ bin, column }: Enlargement): boolean {
    const { world, left } = this;
    const views = [...bin.content.keys()].map((each) => world.ground.views[each.id] as ClassView);
    world.budgets.take(bin.cover, -1);
    const isPossible = isAlternative(world, bin, views, column);
    world.budgets.take(bin.cover, 1);
    if (!isPossible) return false;
    for (let r = 0; r < left.length; r++) {
      const more = Math.max(0, (column.room[r] ?? 0) - (bin.held.room[r] ?? 0));
      const slack = Math.max(0, Math.min(more, left[r] ?? 0));
      bin.used[r] = (bin.used[r] ?? 0) + slack;
      left[r] = (left[r] ?? 0) - slack;
    }
    hold(world, bin, column);
    return true;
  }

  private best(bin: Bin, columns: readonly Column[], money: number): Enlargement | undefined {
    let best: Enlargement | undefined;
    for (const column of columns) {
      const price = column.price - bin.held.price;
      if (price > money) break;
      if (price < 0) continue;
      this.world.steps++;
      const gain = this.gain(bin.held, column);
      const costOfGain = price / gain;
      if (gain > 0 && (best === undefined || costOfGain < best.costOfGain)) {
        best = { bin, column, price, costOfGain };
      }
    }
    return best;
  }

  /** Which share of the need for CPU and memory the additional room covers at least. */
  private gain(held: Column, column: Column): number {
    let least = Number.POSITIVE_INFINITY;
    for (const r of this.main) {
      const need = this.need[r] ?? 0;
      const more = (column.room[r] ?? 0) - (held.room[r] ?? 0);
      if (more < 0) return 0;
      if (need > 0) least = Math.min(least, more / need);
    }
    return Math.min(1, least);
  }
}

/**
 * Plays the plan back as kube-scheduler would bind its pods, whatever nodes the plan has in mind
 * for them, and gives nodes larger types where pods are left over, as long as that costs little.
 */
export function repair(world: World): Stranded {
  const { problem } = world.ground;
  const nodes = Math.min(64, world.bins.length + world.rooms.length);
  const isTooLarge = problem.demand.pods.length * nodes > LOOKS_MAX;
  if (world.bins.length === 0 || isTooLarge) return { orders: 0, pods: 0 };
  const price = world.bins.reduce((sum, bin) => sum + bin.held.price, 0);
  let money = price * REPAIR_WORTH;
  const orders = joinOrders(world.bins.length);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { pods, worst, steps } = play(world, orders.slice(0, GUIDES));
    world.steps += steps;
    if (pods === 0 || world.steps > problem.settings.stepsMax) break;
    const spent = new Enlarging(world, worst).run(worst, money);
    if (spent === 0) break;
    money -= spent;
  }
  const { pods } = play(world, orders);
  return { orders: orders.length, pods };
}
