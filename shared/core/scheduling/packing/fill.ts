import type { Column } from '../problem/columns.ts';

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

/** Mixes of the two main resources by which what is left of a node bounds what it can still be worth. */
const MIXES = [0, 0.25, 0.5, 0.75, 1] as const;

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
  private orders = new Map<string, Orders>();
  private single: readonly (readonly number[])[] = [];
  /** Work done: buckets looked at. */
  steps = 0;
  /** The part of it that searches took. */
  searched = 0;

  /** `main` are the resources whose use decides the order: those that cost money. */
  constructor(buckets: readonly Bucket[], main: readonly number[], values: Float64Array) {
    this.buckets = buckets;
    this.main = main;
    this.values = values;
    this.setValues(values);
  }

  setValues(values: Float64Array): void {
    this.values = values;
    this.orders = new Map();
    this.single = this.main.map((resource) =>
      orderBy(this.buckets, ({ id, requests }) => {
        const amount = requests[resource] ?? 0;
        return (values[id] ?? 0) / (amount > 0 ? amount : 1e-9);
      }),
    );
  }

  private ordersFor(room: Float64Array): Orders {
    const [first = 0] = this.main;
    const base = Math.max(room[first] ?? 0, 1);
    const text = this.main
      .map((r) => Math.round(RATIO_STEPS * Math.log2(Math.max(room[r] ?? 0, 1) / base)))
      .join();
    const known = this.orders.get(text);
    if (known !== undefined) return known;
    const weights = this.main.map((r) => ((room[r] ?? 0) > 0 ? base / (room[r] ?? 1) : 0));
    const mixed = orderBy(this.buckets, ({ id, requests }) => {
      let use = 1e-9;
      for (const [index, r] of this.main.entries())
        use += (weights[index] ?? 0) * (requests[r] ?? 0);
      return (this.values[id] ?? 0) / use;
    });
    const orders = [mixed, ...this.single];
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
    const search = new FillSearch(this.buckets, candidates, this.values, this.main, column, left);
    const found = search.run(greedy, stepsMax);
    this.searched += search.steps;
    this.steps += search.steps;
    return found;
  }

  /** More than any filling of the column can be worth. */
  ceiling({ room, group }: Column, left: Float64Array): number {
    const [first = 0, second = first] = this.main;
    const densest = new Float64Array(MIXES.length);
    for (const [index, { requests, allowed }] of this.buckets.entries()) {
      if ((left[index] ?? 0) <= 0 || allowed[group.id] !== 1) continue;
      const one = (requests[first] ?? 0) / Math.max(room[first] ?? 0, 1e-9);
      const other = (requests[second] ?? 0) / Math.max(room[second] ?? 0, 1e-9);
      if (one > 1 || other > 1) continue;
      for (let at = 0; at < MIXES.length; at++) {
        const mix = MIXES[at] ?? 0;
        const use = mix * one + (1 - mix) * other;
        const density = (this.values[index] ?? 0) / Math.max(use, 1e-9);
        if (density > (densest[at] ?? 0)) densest[at] = density;
      }
    }
    return Math.min(...densest);
  }

  private along(order: readonly number[], column: Column, left: Float64Array): Pattern | undefined {
    const room = roomFor(this.buckets, column);
    const group = column.group.id;
    const buckets: number[] = [];
    const amounts: number[] = [];
    let value = 0;
    for (const index of order) {
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

/** Depth-first branch and bound for the most valuable filling of one node. */
class FillSearch {
  steps = 0;
  private stepsMax = 0;
  private readonly buckets: readonly Bucket[];
  private readonly candidates: readonly number[];
  private readonly values: Float64Array;
  private readonly column: Column;
  private readonly left: Float64Array;
  private readonly room: Float64Array;
  private readonly amounts: Int32Array;
  /** By candidate and mix: the best value per use of it and all later ones. */
  private readonly densest: Float64Array;
  private readonly first: number;
  private readonly second: number;
  /** 1 / the whole room, of the two main resources. */
  private readonly perFirst: number;
  private readonly perSecond: number;
  private bestValue = 0;
  private bestAmounts: Int32Array | undefined;

  constructor(
    buckets: readonly Bucket[],
    candidates: readonly number[],
    values: Float64Array,
    main: readonly number[],
    column: Column,
    left: Float64Array,
  ) {
    this.buckets = buckets;
    this.candidates = candidates;
    this.values = values;
    this.column = column;
    this.left = left;
    this.room = roomFor(buckets, column);
    this.amounts = new Int32Array(candidates.length);
    const [first = 0, second = first] = main;
    this.first = first;
    this.second = second;
    this.perFirst = 1 / Math.max(column.room[first] ?? 0, 1e-9);
    this.perSecond = 1 / Math.max(column.room[second] ?? 0, 1e-9);
    this.densest = this.densities();
  }

  run(start: Pattern, stepsMax: number): Pattern {
    this.stepsMax = stepsMax;
    this.bestValue = start.value * (1 + 1e-9);
    this.visit(0, 0);
    if (this.bestAmounts === undefined) return start;
    const buckets: number[] = [];
    const amounts: number[] = [];
    for (const [at, amount] of this.bestAmounts.entries()) {
      if (amount === 0) continue;
      buckets.push(this.candidates[at] ?? 0);
      amounts.push(amount);
    }
    return { column: this.column, buckets, amounts, value: this.bestValue };
  }

  private densities(): Float64Array {
    const count = this.candidates.length;
    const width = MIXES.length;
    const densest = new Float64Array((count + 1) * width);
    for (let at = count - 1; at >= 0; at--) {
      const index = this.candidates[at] ?? 0;
      const { requests } = this.buckets[index] as Bucket;
      const one = (requests[this.first] ?? 0) * this.perFirst;
      const other = (requests[this.second] ?? 0) * this.perSecond;
      for (let each = 0; each < width; each++) {
        const mix = MIXES[each] ?? 0;
        const use = Math.max(mix * one + (1 - mix) * other, 1e-9);
        const later = densest[(at + 1) * width + each] ?? 0;
        densest[at * width + each] = Math.max((this.values[index] ?? 0) / use, later);
      }
    }
    return densest;
  }

  /** What the rest of the room can be worth at most with the candidates from `at` on. */
  private bound(at: number): number {
    const one = (this.room[this.first] ?? 0) * this.perFirst;
    const other = (this.room[this.second] ?? 0) * this.perSecond;
    const base = at * MIXES.length;
    let least = Number.POSITIVE_INFINITY;
    for (let each = 0; each < MIXES.length; each++) {
      const mix = MIXES[each] ?? 0;
      const most = (this.densest[base + each] ?? 0) * (mix * one + (1 - mix) * other);
      if (most < least) least = most;
    }
    return least;
  }

  private visit(from: number, value: number): void {
    if (value > this.bestValue) {
      this.bestValue = value;
      this.bestAmounts = this.amounts.slice();
    }
    for (let at = from; at < this.candidates.length; at++) {
      if (++this.steps > this.stepsMax || value + this.bound(at) <= this.bestValue) return;
      const index = this.candidates[at] ?? 0;
      const bucket = this.buckets[index] as Bucket;
      const most = howMany(bucket, this.room, this.left[index] ?? 0);
      if (most === 0) continue;
      const each = this.values[index] ?? 0;
      for (let amount = most; amount > 0; amount--) {
        take(this.room, bucket, amount);
        this.amounts[at] = amount;
        this.visit(at + 1, value + amount * each);
        take(this.room, bucket, -amount);
        this.amounts[at] = 0;
        if (this.steps > this.stepsMax) return;
      }
    }
  }
}

/** The column's room with places for pods that keep apart. */
function roomFor(buckets: readonly Bucket[], { room }: Column): Float64Array {
  const whole = new Float64Array(buckets[0]?.requests.length ?? room.length).fill(1);
  whole.set(room);
  return whole;
}

function take(room: Float64Array, { requests }: Bucket, amount: number): void {
  for (let r = 0; r < room.length; r++) {
    room[r] = (room[r] ?? 0) - amount * (requests[r] ?? 0);
  }
}

/** Makes up for shares that do not add up to 1 exactly. */
const ROUNDING = 1e-9;

/** How many more of the bucket the room holds. */
export function howMany(
  { requests, perNode }: Bucket,
  room: Float64Array,
  available: number,
): number {
  let amount = Math.min(available, perNode);
  for (let r = 0; r < requests.length && amount > 0; r++) {
    const each = requests[r] ?? 0;
    if (each > 0) amount = Math.min(amount, Math.floor((room[r] ?? 1) / each + ROUNDING));
  }
  return amount;
}
