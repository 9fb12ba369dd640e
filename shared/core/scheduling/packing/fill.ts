import type { Column } from '../problem/columns.ts';
import { FillSearch, fitting, mixed, roomFor } from './fill-search.ts';

/** Equal demands, as far as filling a node is concerned. */
export interface Bucket {
  readonly id: number;
  /**
   * Per resource of the problem; beyond those, shares of what one node can hold of pods that keep
   * apart from each other, whatever its size: of each such kind every node has room for 1.
   */
  readonly requests: Float64Array;
  /** By column group: 1 where the demand may go. */
  readonly allowed: Uint8Array;
  /** At most this many on one node; Infinity = as many as fit. */
  readonly perNode: number;
}

/** How many of each bucket go on one node. */
export interface Pattern {
  readonly column: Column;
  readonly buckets: readonly number[];
  readonly amounts: readonly number[];
  /** Sum of the values of what is in it. */
  readonly value: number;
}

/** Orders in which buckets are tried, by value per what they use, for one shape of node. */
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

/** A greedy filling this near to the ceiling is not worth a search. */
const FULL = 0.995;

function orderBy(buckets: readonly Bucket[], density: (bucket: Bucket) => number): number[] {
  const keys = Float64Array.from(buckets, density);
  const order = buckets.map((_, index) => index).filter((index) => (keys[index] ?? 0) > 0);
  return order.sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b);
}

/** Fills nodes by the values that demands have at the moment: greedily, or searching for the best. */
export class Filler {
  private readonly buckets: readonly Bucket[];
  private values: Float64Array;
  private readonly main: readonly number[];
  private readonly mixes: readonly Float64Array[];
  private orders = new Map<string, Orders>();
  /** The even mix, which comes first, and all others. */
  private readonly orderMixes: readonly Float64Array[];
  /** Work done: buckets looked at. */
  steps = 0;
  /** The part of it that searches took. */
  searched = 0;

  /** `main` are the resources whose use decides the order: those that cost money. */
  constructor(buckets: readonly Bucket[], main: readonly number[], values: Float64Array) {
    this.buckets = buckets;
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

  private ordersFor(room: Float64Array): Orders {
    const [first = 0] = this.main;
    const base = Math.max(room[first] ?? 0, 1);
    const text = this.main
      .map((r) => Math.round(RATIO_STEPS * Math.log2(Math.max(room[r] ?? 0, 1) / base)))
      .join();
    const known = this.orders.get(text);
    if (known !== undefined) return known;
    const whole = Float64Array.from(this.main, (r) =>
      (room[r] ?? 0) > 0 ? base / (room[r] ?? 1) : 0,
    );
    const orders = this.orderMixes.map((mix) =>
      orderBy(this.buckets, ({ id, requests }) => {
        let use = 1e-9;
        for (const [at, r] of this.main.entries()) {
          use += (mix[at] ?? 0) * (whole[at] ?? 0) * (requests[r] ?? 0);
        }
        return (this.values[id] ?? 0) / use;
      }),
    );
    this.orders.set(text, orders);
    return orders;
  }

  /** Buckets by falling value for what they use of such a node. */
  order({ room }: Column): readonly number[] {
    return this.ordersFor(room)[0] ?? [];
  }

  /** The most valuable filling that greedy orders find for a node of the column, if any fits. */
  best(column: Column, left: Float64Array): Pattern | undefined {
    let best: Pattern | undefined;
    for (const order of this.ordersFor(column.room)) {
      const pattern = this.along(order, column, left);
      if (pattern !== undefined && (best === undefined || pattern.value > best.value)) {
        best = pattern;
      }
    }
    return best;
  }

  /** The same, and then a search for a better one that looks at `stepsMax` fillings at most. */
  search(column: Column, left: Float64Array, stepsMax: number): Pattern | undefined {
    const greedy = this.best(column, left);
    if (greedy === undefined || greedy.value >= FULL * this.ceiling(column, left)) return greedy;
    const [order = []] = this.ordersFor(column.room);
    const candidates = order.filter((index) => {
      const bucket = this.buckets[index] as Bucket;
      return (left[index] ?? 0) > 0 && bucket.allowed[column.group.id] === 1;
    });
    const { buckets, values, main, mixes } = this;
    const search = new FillSearch({ buckets, values, main, mixes }, candidates, column, left);
    const found = search.run(greedy, stepsMax);
    this.searched += search.steps;
    this.steps += search.steps;
    return found;
  }

  /** More than any filling of the column can be worth. */
  ceiling({ room, group }: Column, left: Float64Array): number {
    const { main, mixes } = this;
    const densest = new Float64Array(mixes.length);
    const shares = new Float64Array(main.length);
    for (let index = 0; index < this.buckets.length; index++) {
      const { requests, allowed } = this.buckets[index] as Bucket;
      if ((left[index] ?? 0) <= 0 || allowed[group.id] !== 1) continue;
      let most = 0;
      for (let at = 0; at < main.length; at++) {
        const r = main[at] ?? 0;
        const share = (requests[r] ?? 0) / Math.max(room[r] ?? 0, 1e-9);
        shares[at] = share;
        if (share > most) most = share;
      }
      if (most > 1) continue;
      const value = this.values[index] ?? 0;
      for (let at = 0; at < mixes.length; at++) {
        const density = value / Math.max(mixed(mixes[at] as Float64Array, shares), 1e-9);
        if (density > (densest[at] ?? 0)) densest[at] = density;
      }
    }
    return Math.min(...densest);
  }

  /**
   * The best of the fillings that begin with some pods of one bucket, whatever they are worth for
   * what they use: large pods of odd proportions never come first in any order.
   */
  begunWithEach(column: Column, left: Float64Array): Pattern | undefined {
    const [order = []] = this.ordersFor(column.room);
    const whole = roomFor(this.buckets, column);
    let best: Pattern | undefined;
    for (const index of order) {
      const bucket = this.buckets[index] as Bucket;
      const available = left[index] ?? 0;
      if (available <= 0 || bucket.allowed[column.group.id] !== 1) continue;
      const most = howMany(bucket, whole, available);
      if (most < 1) continue;
      for (const amount of new Set([1, (most + 1) >> 1, most])) {
        const pattern = this.along(order, column, left, { index, amount });
        if (best === undefined || (pattern?.value ?? 0) > best.value) best = pattern;
      }
    }
    return best;
  }

  private along(
    order: readonly number[],
    column: Column,
    left: Float64Array,
    begin?: { readonly index: number; readonly amount: number },
  ): Pattern | undefined {
    const room = roomFor(this.buckets, column);
    const group = column.group.id;
    const buckets: number[] = [];
    const amounts: number[] = [];
    let value = 0;
    if (begin !== undefined) {
      take(room, this.buckets[begin.index] as Bucket, begin.amount);
      buckets.push(begin.index);
      amounts.push(begin.amount);
      value += begin.amount * (this.values[begin.index] ?? 0);
    }
    for (const index of order) {
      if (index === begin?.index) continue;
      const bucket = this.buckets[index] as Bucket;
      const available = left[index] ?? 0;
      if (available <= 0 || bucket.allowed[group] !== 1) continue;
      this.steps++;
      const amount = howMany(bucket, room, available);
      if (amount <= 0) continue;
      take(room, bucket, amount);
      buckets.push(index);
      amounts.push(amount);
      value += amount * (this.values[index] ?? 0);
    }
    return buckets.length === 0 ? undefined : { column, buckets, amounts, value };
  }
}

function take(room: Float64Array, { requests }: Bucket, amount: number): void {
  for (let r = 0; r < room.length; r++) {
    room[r] = (room[r] ?? 0) - amount * (requests[r] ?? 0);
  }
}

/** How many more of the bucket the room holds. */
export function howMany(
  { requests, perNode }: Bucket,
  room: Float64Array,
  available: number,
): number {
  let amount = Math.min(available, perNode);
  for (let r = 0; r < requests.length && amount > 0; r++) {
    const each = requests[r] ?? 0;
    if (each > 0) amount = Math.min(amount, fitting(room[r] ?? 1, each));
  }
  return amount;
}
