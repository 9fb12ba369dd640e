import type { Column } from './columns.ts';
import { type JoinOrder, Playback } from './playback.ts';
import type { PodClass } from './problem.ts';
import { frontOf, hold, isAlternative } from './retype.ts';
import type { Bin, ClassView, World } from './world.ts';

/** In how many batches the nodes join, for each order that is played back. */
const BATCHES = [1, 1, 3, 10, 10] as const;

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

/** Numbers that look random and are the same for the same seed (a linear congruence, 32 bits). */
function* numbers(seed: number): Iterable<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** A shuffle of the plan's bins for each of BATCHES. */
function joinOrders(bins: number): readonly JoinOrder[] {
  return BATCHES.map((batches, seed) => {
    const order = Array.from({ length: bins }, (_, index) => index);
    let left = bins;
    for (const number of numbers(seed)) {
      if (left <= 1) break;
      const picked = Math.floor(number * left);
      left--;
      [order[picked], order[left]] = [order[left] ?? 0, order[picked] ?? 0];
    }
    return { bins: order, batches };
  });
}

/** What playing the plan back in every order leaves over. */
interface Outcome extends Stranded {
  /** Of each class, as many as in the worst order for it. */
  readonly worst: ReadonlyMap<PodClass, number>;
  readonly steps: number;
}

function play(world: World): Outcome {
  const playback = new Playback(world);
  const worst = new Map<PodClass, number>();
  let pods = 0;
  const orders = joinOrders(world.bins.length);
  for (const order of orders) {
    for (const [podClass, count] of playback.run(order)) {
      pods += count;
      worst.set(podClass, Math.max(count, worst.get(podClass) ?? 0));
    }
  }
  return { orders: orders.length, pods, worst, steps: playback.steps };
}

/** A larger launch for a bin, and what it would bring. */
interface Enlargement {
  readonly bin: Bin;
  readonly column: Column;
  /** Pods of each wanted class that its additional room could take. */
  readonly gain: ReadonlyMap<ClassView, number>;
  readonly costOfGain: number;
}

/** Finds larger launches that take the stranded pods for the least money. */
class Enlarging {
  private readonly world: World;
  private readonly fronts: ReadonlyMap<number, readonly Column[]>;
  private readonly need: { readonly view: ClassView; count: number }[];
  /** Total requests of the need: what its pods are measured by. */
  private readonly scale: Float64Array;
  private readonly enlarged = new Set<Bin>();

  constructor(world: World, worst: ReadonlyMap<PodClass, number>) {
    this.world = world;
    this.fronts = new Map(world.ground.weights.map((each) => [each, frontOf(world, each)]));
    const { views, problem } = world.ground;
    this.need = [...worst].map(([{ id }, count]) => ({ view: views[id] as ClassView, count }));
    this.scale = new Float64Array(problem.resources.length);
    for (const { view, count } of this.need) {
      for (const [r, amount] of view.podClass.requests.entries()) {
        this.scale[r] = (this.scale[r] ?? 0) + amount * count;
      }
    }
    this.need.sort(
      (a, b) =>
        this.sizeOf(b.view) - this.sizeOf(a.view) || a.view.podClass.id - b.view.podClass.id,
    );
  }

  private sizeOf({ podClass }: ClassView): number {
    let size = 0;
    for (const [r, amount] of podClass.requests.entries()) {
      if (amount > 0) size = Math.max(size, amount / (this.scale[r] ?? 1));
    }
    return size;
  }

  /** Enlarges bins until the need is met or the money spent; returns what it cost. */
  run(money: number): number {
    let spent = 0;
    while (this.need.some(({ count }) => count > 0)) {
      const best = this.best(money - spent);
      if (best === undefined) break;
      spent += best.column.price - best.bin.held.price;
      this.apply(best);
    }
    return spent;
  }

  private apply({ bin, column, gain }: Enlargement): void {
    this.enlarged.add(bin);
    for (const [view, count] of gain) {
      const { requests } = view.podClass;
      for (let r = 0; r < requests.length; r++) {
        bin.used[r] = (bin.used[r] ?? 0) + count * (requests[r] ?? 0);
      }
      const need = this.need.find((each) => each.view === view);
      if (need !== undefined) need.count -= count;
    }
    hold(this.world, bin, column);
  }

  private best(money: number): Enlargement | undefined {
    let best: Enlargement | undefined;
    const seen = new Set<string>();
    for (const bin of this.world.bins) {
      if (this.enlarged.has(bin)) continue;
      const { pool, type, domain } = bin.held;
      const content = [...bin.content.keys()].map((each) => each.id).sort((a, b) => a - b);
      const text = `${pool.id}|${type.type.name}|${domain.id}|${content.join()}`;
      if (seen.has(text)) continue;
      seen.add(text);
      const found = this.bestFor(bin, money, best?.costOfGain ?? Number.POSITIVE_INFINITY);
      if (found !== undefined) best = found;
    }
    return best;
  }

  private bestFor(bin: Bin, money: number, below: number): Enlargement | undefined {
    const { world } = this;
    const views = [...bin.content.keys()].map((each) => world.ground.views[each.id] as ClassView);
    let best: Enlargement | undefined;
    let least = below;
    for (const column of this.fronts.get(bin.held.pool.pool.weight) ?? []) {
      const price = column.price - bin.held.price;
      if (price > money) break;
      if (price < 0) continue;
      world.steps++;
      const { gain, worth } = this.gainOf(bin, column);
      if (worth <= 0 || price / worth >= least) continue;
      world.budgets.take(bin.cover, -1);
      const isPossible = isAlternative(world, bin, views, column);
      world.budgets.take(bin.cover, 1);
      if (!isPossible) continue;
      least = price / worth;
      best = { bin, column, gain, costOfGain: least };
    }
    return best;
  }

  /** What the room that the column has beyond the held one could take of the need. */
  private gainOf(bin: Bin, column: Column) {
    const room = column.room.map((amount, r) => amount - (bin.held.room[r] ?? 0));
    const gain = new Map<ClassView, number>();
    let worth = 0;
    for (const { view, count } of this.need) {
      if (count === 0 || view.allowed[column.group.id] !== 1) continue;
      const { requests } = view.podClass;
      let taken = view.host.isFree ? count : 1;
      for (let r = 0; r < requests.length; r++) {
        const each = requests[r] ?? 0;
        if (each > 0) taken = Math.min(taken, Math.floor((room[r] ?? 0) / each));
      }
      if (taken <= 0) continue;
      for (let r = 0; r < room.length; r++) room[r] = (room[r] ?? 0) - taken * (requests[r] ?? 0);
      gain.set(view, taken);
      worth += taken * this.sizeOf(view);
    }
    return { gain, worth };
  }
}

/**
 * Plays the plan back as kube-scheduler would bind its pods, whatever nodes the plan has in mind for
 * them, and gives nodes larger types where pods are left over, as long as that costs little.
 */
export function repair(world: World): Stranded {
  const { problem } = world.ground;
  const nodes = Math.min(64, world.bins.length + world.rooms.length);
  const isTooLarge = problem.demand.pods.length * nodes > LOOKS_MAX;
  if (world.bins.length === 0 || isTooLarge) return { orders: 0, pods: 0 };
  const price = world.bins.reduce((sum, bin) => sum + bin.held.price, 0);
  let money = price * REPAIR_WORTH;
  let outcome = play(world);
  for (let round = 0; round < ROUNDS_MAX && outcome.pods > 0; round++) {
    world.steps += outcome.steps;
    if (world.steps > problem.settings.stepsMax) break;
    const spent = new Enlarging(world, outcome.worst).run(money);
    if (spent === 0) break;
    money -= spent;
    outcome = play(world);
  }
  return { orders: outcome.orders, pods: outcome.pods };
}
