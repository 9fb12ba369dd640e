import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { freeFor, howMany, mixed, type Pattern, type PodShape, take } from './pattern.ts';
import { PatternSearch } from './pattern-search.ts';

/** Orders in which shapes are tried, by value per what they use, for one shape of node. */
type Orders = readonly (readonly number[])[];

/** Ratios of resources finer than this many steps a doubling share one order. */
const RATIO_STEPS = 3;

/** Of which the weights in a mix of the main resources are whole multiples. */
const PARTS = 4;

/**
 * Mixes of the main resources: by each of them, what is left of a node bounds what it can still be
 * worth.
 */
function mixesOf(count: number): readonly Float64Array[] {
  const mixes: Float64Array[] = [];
  const visit = (weights: readonly number[], rest: number): void => {
    if (weights.length === count - 1) {
      mixes.push(Float64Array.from([...weights, rest], (each) => each / PARTS));
      return;
    }
    for (let each = 0; each <= rest; each++) visit([...weights, each], rest - each);
  };
  visit([], PARTS);
  return mixes;
}

/** A greedy pattern this near to the ceiling is not worth a search. */
const FULL = 0.995;

function orderBy(shapes: readonly PodShape[], density: (shape: PodShape) => number): number[] {
  const keys = Float64Array.from(shapes, density);
  const order = shapes
    .map((_, index) => index)
    .filter((index) => (keys[index] ?? missing(index)) > 0);
  return order.sort((a, b) => (keys[b] ?? missing(b)) - (keys[a] ?? missing(a)) || a - b);
}

/**
 * Fills nodes by the values that demands have at the moment: greedily, or searching for the best.
 */
export class PatternFinder {
  private readonly shapes: readonly PodShape[];
  private values: Float64Array;
  private readonly main: readonly number[];
  private readonly mixes: readonly Float64Array[];
  private orders = new Map<string, Orders>();
  /** The even mix, which comes first, and all others. */
  private readonly orderMixes: readonly Float64Array[];
  /** Work done: shapes looked at. */
  steps = 0;
  /** The part of it that searches took. */
  searched = 0;

  /** `main` are the resources whose use decides the order: those that cost money. */
  constructor(shapes: readonly PodShape[], main: readonly number[], values: Float64Array) {
    this.shapes = shapes;
    this.main = main;
    this.mixes = mixesOf(main.length);
    const even = new Float64Array(main.length).fill(1 / main.length);
    const isEven = (mix: Float64Array): boolean => mix.every((each, at) => each === even[at]);
    this.orderMixes = [even, ...this.mixes.filter((mix) => !isEven(mix))];
    this.values = values;
    this.setValues(values);
  }

  setValues(values: Float64Array): void {
    this.values = values;
    this.orders = new Map();
  }

  private ordersFor(free: Float64Array): Orders {
    const [first = 0] = this.main;
    const base = Math.max(free[first] ?? missing(first), 1);
    const text = this.main
      .map((r) => Math.round(RATIO_STEPS * Math.log2(Math.max(free[r] ?? missing(r), 1) / base)))
      .join();
    const known = this.orders.get(text);
    if (known !== undefined) return known;
    const whole = Float64Array.from(this.main, (r) =>
      (free[r] ?? missing(r)) > 0 ? base / (free[r] ?? missing(r)) : 0,
    );
    const orders = this.orderMixes.map((mix) =>
      orderBy(this.shapes, ({ id, requests }) => {
        let use = 1e-9;
        for (const [at, r] of this.main.entries()) {
          use +=
            (mix[at] ?? missing(at)) * (whole[at] ?? missing(at)) * (requests[r] ?? missing(r));
        }
        return (this.values[id] ?? missing(id)) / use;
      }),
    );
    this.orders.set(text, orders);
    return orders;
  }

  /** Shapes by falling value for what they use of such a node. */
  order({ free }: LaunchOption): readonly number[] {
    return this.ordersFor(free)[0] ?? [];
  }

  /**
   * The most valuable pattern that greedy orders find for a node of the launch option, if any fits.
   */
  best(option: LaunchOption, left: Float64Array): Pattern | undefined {
    let best: Pattern | undefined;
    for (const order of this.ordersFor(option.free)) {
      const pattern = this.along(order, option, left);
      if (pattern !== undefined && (best === undefined || pattern.value > best.value)) {
        best = pattern;
      }
    }
    return best;
  }

  /**
   * The same, and then a search for a better one that looks at `stepsMax` patterns at most; what is
   * worth no more than `above` is not looked for.
   */
  search(
    option: LaunchOption,
    left: Float64Array,
    stepsMax: number,
    above = 0,
  ): Pattern | undefined {
    const greedy = this.best(option, left);
    if (greedy === undefined || greedy.value >= FULL * this.ceiling(option, left)) return greedy;
    const [order = []] = this.ordersFor(option.free);
    const candidates = order.filter((index) => {
      const shape = this.shapes[index] ?? missing(index);
      return (left[index] ?? missing(index)) > 0 && shape.allowed[option.group.id] === 1;
    });
    if (stepsMax < candidates.length) return greedy;
    const { shapes, values, main, mixes } = this;
    const search = new PatternSearch({ shapes, values, main, mixes }, candidates, option, left);
    const found = search.run(greedy, stepsMax, above);
    this.searched += search.steps;
    this.steps += search.steps;
    return found;
  }

  /** More than any pattern of the launch option can be worth. */
  ceiling({ free, group }: LaunchOption, left: Float64Array): number {
    const { main, mixes } = this;
    const densest = new Float64Array(mixes.length);
    const shares = new Float64Array(main.length);
    for (let index = 0; index < this.shapes.length; index++) {
      const { requests, allowed } = this.shapes[index] ?? missing(index);
      if ((left[index] ?? missing(index)) <= 0 || allowed[group.id] !== 1) continue;
      let most = 0;
      for (let at = 0; at < main.length; at++) {
        const r = main[at] ?? missing(at);
        const share = (requests[r] ?? missing(r)) / Math.max(free[r] ?? missing(r), 1e-9);
        shares[at] = share;
        if (share > most) most = share;
      }
      if (most > 1) continue;
      const value = this.values[index] ?? missing(index);
      for (let at = 0; at < mixes.length; at++) {
        const density = value / Math.max(mixed(mixes[at] ?? missing(at), shares), 1e-9);
        if (density > (densest[at] ?? missing(at))) densest[at] = density;
      }
    }
    return Math.min(...densest);
  }

  /**
   * The best of the patterns that begin with some pods of one shape, whatever they are worth for
   * what they use: large pods of odd proportions never come first in any order.
   */
  begunWithEach(option: LaunchOption, left: Float64Array): Pattern | undefined {
    const [order = []] = this.ordersFor(option.free);
    const whole = freeFor(this.shapes, option);
    let best: Pattern | undefined;
    for (const index of order) {
      const shape = this.shapes[index] ?? missing(index);
      const available = left[index] ?? missing(index);
      if (available <= 0 || shape.allowed[option.group.id] !== 1) continue;
      const most = howMany(shape, whole, available);
      if (most < 1) continue;
      for (const amount of new Set([1, (most + 1) >> 1, most])) {
        const pattern = this.along(order, option, left, { index, amount });
        if (best === undefined || (pattern?.value ?? 0) > best.value) best = pattern;
      }
    }
    return best;
  }

  private along(
    order: readonly number[],
    option: LaunchOption,
    left: Float64Array,
    begin?: { readonly index: number; readonly amount: number },
  ): Pattern | undefined {
    const free = freeFor(this.shapes, option);
    const group = option.group.id;
    const shapes: number[] = [];
    const amounts: number[] = [];
    let value = 0;
    if (begin !== undefined) {
      take(free, this.shapes[begin.index] ?? missing(begin.index), begin.amount);
      shapes.push(begin.index);
      amounts.push(begin.amount);
      value += begin.amount * (this.values[begin.index] ?? missing(begin.index));
    }
    for (const index of order) {
      if (index === begin?.index) continue;
      const shape = this.shapes[index] ?? missing(index);
      const available = left[index] ?? missing(index);
      if (available <= 0 || shape.allowed[group] !== 1) continue;
      this.steps++;
      const amount = howMany(shape, free, available);
      if (amount <= 0) continue;
      take(free, shape, amount);
      shapes.push(index);
      amounts.push(amount);
      value += amount * (this.values[index] ?? missing(index));
    }
    return shapes.length === 0 ? undefined : { option, shapes, amounts, value };
  }
}
