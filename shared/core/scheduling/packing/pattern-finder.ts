import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { freeFor, howMany, mixed, type Pattern, type PodShape, take } from './pattern.ts';
import { PatternSearch } from './pattern-search.ts';
import { BLOCK, ValueOrder } from './value-order.ts';

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

/** Orders in which shapes are tried, one for each mix, for nodes with such a ratio of resources. */
interface Orders {
  readonly byMix: readonly ValueOrder[];
  /** The values that it was sorted by. */
  version: number;
}

/** A node while it is filled. */
interface Filling {
  readonly free: Float64Array;
  readonly group: number;
  readonly shapes: number[];
  readonly amounts: number[];
  value: number;
}

/**
 * Fills nodes by the values that demands have at the moment: greedily, or searching for the best.
 */
export class PatternFinder {
  private readonly shapes: readonly PodShape[];
  private values: Float64Array;
  private readonly main: readonly number[];
  private readonly mixes: readonly Float64Array[];
  /** Pods left, by shape: never more than before. */
  private readonly left: Float64Array;
  private readonly isTight: boolean;
  private readonly orders = new Map<string, Orders>();
  private readonly ordersOf = new Map<Float64Array, Orders>();
  private newest: Orders | undefined;
  private version = 0;
  /** By shape, while they are sorted. */
  private readonly keys: Float64Array;
  /** The even mix, which comes first, and all others. */
  private readonly orderMixes: readonly Float64Array[];
  /** Work done: shapes looked at. */
  steps = 0;
  /** The part of it that searches took. */
  searched = 0;
  /** Searches that looked at as much as they might. */
  unended = 0;

  /**
   * `main` are the resources whose use decides the order: those that cost money. A tight search
   * looks for the mix of them that bounds a node best, and begins with what is densest by it.
   */
  constructor(
    shapes: readonly PodShape[],
    main: readonly number[],
    values: Float64Array,
    left: Float64Array,
    isTight: boolean,
  ) {
    this.isTight = isTight;
    this.shapes = shapes;
    this.left = left;
    this.main = main;
    this.mixes = mixesOf(main.length);
    const even = new Float64Array(main.length).fill(1 / main.length);
    const isEven = (mix: Float64Array): boolean => mix.every((each, at) => each === even[at]);
    this.orderMixes = [even, ...this.mixes.filter((mix) => !isEven(mix))];
    this.values = values;
    this.keys = new Float64Array(shapes.length);
  }

  setValues(values: Float64Array): void {
    this.values = values;
    this.version++;
  }

  private ordersFor(free: Float64Array): readonly ValueOrder[] {
    let orders = this.ordersOf.get(free);
    if (orders === undefined) {
      const text = this.ratioText(free);
      orders = this.orders.get(text) ?? this.newOrders();
      this.orders.set(text, orders);
      this.ordersOf.set(free, orders);
    }
    if (orders.version !== this.version) this.sort(orders, free);
    return orders.byMix;
  }

  private ratioText(free: Float64Array): string {
    const base = this.baseOf(free);
    return this.main
      .map((r) => Math.round(RATIO_STEPS * Math.log2(Math.max(free[r] ?? missing(r), 1) / base)))
      .join();
  }

  private baseOf(free: Float64Array): number {
    const [first = 0] = this.main;
    return Math.max(free[first] ?? missing(first), 1);
  }

  /** Of the shapes that are left: the same mixes of other ratios are much alike. */
  private newOrders(): Orders {
    const isLeft = (id: number) => (this.left[id] ?? missing(id)) > 0;
    const alike = this.newest?.byMix.map(({ all }) => all.filter(isLeft));
    const ids = Int32Array.from(this.shapes, ({ id }) => id).filter(isLeft);
    const byMix = this.orderMixes.map((_, each) => new ValueOrder(alike?.[each] ?? ids.slice()));
    this.newest = { byMix, version: -1 };
    return this.newest;
  }

  private sort(orders: Orders, free: Float64Array): void {
    const { main, shapes, values, keys } = this;
    const base = this.baseOf(free);
    const whole = Float64Array.from(main, (r) =>
      (free[r] ?? missing(r)) > 0 ? base / (free[r] ?? missing(r)) : 0,
    );
    for (const [each, order] of orders.byMix.entries()) {
      const mix = this.orderMixes[each] ?? missing(each);
      for (const id of order.all) {
        const { requests } = shapes[id] ?? missing(id);
        let use = 1e-9;
        for (let at = 0; at < main.length; at++) {
          const asked = requests[main[at] ?? missing(at)] ?? missing(at);
          use += (mix[at] ?? missing(at)) * (whole[at] ?? missing(at)) * asked;
        }
        keys[id] = (values[id] ?? missing(id)) / use;
      }
      order.sort(keys);
      order.bound(shapes, main);
    }
    orders.version = this.version;
  }

  /** Shapes by falling value for what they use of such a node. */
  order({ free }: LaunchOption): Int32Array {
    return this.evenOrder(free).ids;
  }

  private evenOrder(free: Float64Array): ValueOrder {
    return this.ordersFor(free)[0] ?? missing(0);
  }

  /**
   * The most valuable pattern that greedy orders find for a node of the launch option, if any fits.
   */
  best(option: LaunchOption): Pattern | undefined {
    let best: Pattern | undefined;
    for (const order of this.ordersFor(option.free)) {
      const pattern = this.along(order, option);
      if (pattern !== undefined && (best === undefined || pattern.value > best.value)) {
        best = pattern;
      }
    }
    return best;
  }

  /** The same, and then a search for a better one that looks at `stepsMax` patterns at most. */
  search(option: LaunchOption, stepsMax: number): Pattern | undefined {
    return this.searchAbove(option, stepsMax, 0, 1)[0];
  }

  /**
   * What is worth no more than `above` is not looked for. Up to `count` patterns, the last of which
   * is the best: the others were the best before it.
   */
  searchAbove(
    option: LaunchOption,
    stepsMax: number,
    above: number,
    count: number,
  ): readonly Pattern[] {
    const greedy = this.best(option);
    if (greedy === undefined) return [];
    const { shapes, left } = this;
    const candidates: number[] = [];
    const order = this.order(option);
    for (let at = 0; at < order.length; at++) {
      const index = order[at] ?? missing(at);
      const shape = shapes[index] ?? missing(index);
      if ((left[index] ?? missing(index)) > 0 && shape.allowed[option.group.id] === 1)
        candidates.push(index);
    }
    if (stepsMax < candidates.length) return [greedy];
    if (greedy.value >= FULL * this.ceiling(option)) return [greedy];
    const { values, main, mixes } = this;
    const search = new PatternSearch(
      { shapes, values, main, mixes },
      candidates,
      option,
      left,
      this.isTight,
    );
    const found = search.run(greedy, stepsMax, above);
    this.searched += search.steps;
    this.steps += search.steps;
    if (search.steps > stepsMax) this.unended++;
    return count === 1 || found === greedy ? [found] : search.last(count);
  }

  /** More than any pattern of the launch option can be worth. */
  ceiling({ free, group }: LaunchOption): number {
    const { main, mixes, left } = this;
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
  begunWithEach(option: LaunchOption): Pattern | undefined {
    const { left } = this;
    const order = this.evenOrder(option.free);
    const whole = freeFor(this.shapes, option);
    let best: Pattern | undefined;
    for (const index of order.ids) {
      const shape = this.shapes[index] ?? missing(index);
      const available = left[index] ?? missing(index);
      if (available <= 0 || shape.allowed[option.group.id] !== 1) continue;
      const most = howMany(shape, whole, available);
      if (most < 1) continue;
      for (const amount of new Set([1, (most + 1) >> 1, most])) {
        const pattern = this.along(order, option, { index, amount });
        if (best === undefined || (pattern?.value ?? 0) > best.value) best = pattern;
      }
    }
    return best;
  }

  private along(
    order: ValueOrder,
    option: LaunchOption,
    begin?: { readonly index: number; readonly amount: number },
  ): Pattern | undefined {
    const filling: Filling = {
      free: freeFor(this.shapes, option),
      group: option.group.id,
      shapes: [],
      amounts: [],
      value: 0,
    };
    if (begin !== undefined) this.fill(filling, begin.index, begin.amount);
    const { ids } = order;
    for (let at = 0, block = 0; at < ids.length; at += BLOCK, block++) {
      if (order.isTooLarge(block, filling.free, this.main)) this.steps++;
      else if (!this.alongBlock(ids, at, filling, begin?.index)) {
        order.close(block);
      }
    }
    const { shapes, amounts, value } = filling;
    return shapes.length === 0 ? undefined : { option, shapes, amounts, value };
  }

  /**
   * Fills the node with as many of each shape of the block as fit; false: pods of none are left.
   */
  private alongBlock(
    ids: Int32Array,
    from: number,
    filling: Filling,
    begun: number | undefined,
  ): boolean {
    const { shapes, left } = this;
    const { free, group } = filling;
    const end = Math.min(from + BLOCK, ids.length);
    let isLeft = false;
    for (let at = from; at < end; at++) {
      const index = ids[at] ?? missing(at);
      const available = left[index] ?? missing(index);
      if (available <= 0) continue;
      isLeft = true;
      const shape = shapes[index] ?? missing(index);
      if (index === begun || shape.allowed[group] !== 1) continue;
      this.steps++;
      const amount = howMany(shape, free, available);
      if (amount > 0) this.fill(filling, index, amount);
    }
    return isLeft;
  }

  private fill(filling: Filling, index: number, amount: number): void {
    take(filling.free, this.shapes[index] ?? missing(index), amount);
    filling.shapes.push(index);
    filling.amounts.push(amount);
    filling.value += amount * (this.values[index] ?? missing(index));
  }
}
