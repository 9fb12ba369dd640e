import type { Column } from './columns.ts';

/** Equal demands, as far as filling a node is concerned. */
export interface Bucket {
  readonly id: number;
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

function orderBy(buckets: readonly Bucket[], density: (bucket: Bucket) => number): number[] {
  const keys = Float64Array.from(buckets, density);
  const order = buckets.map((_, index) => index).filter((index) => (keys[index] ?? 0) > 0);
  return order.sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b);
}

/** Fills nodes greedily, by the values that demands have at the moment. */
export class Filler {
  private readonly buckets: readonly Bucket[];
  private values: Float64Array;
  private readonly main: readonly number[];
  private orders = new Map<string, Orders>();
  private single: readonly (readonly number[])[] = [];
  /** Work done: buckets looked at. */
  steps = 0;

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

  /** The most valuable filling found for a node of the column; undefined = nothing fits. */
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

  private along(order: readonly number[], column: Column, left: Float64Array): Pattern | undefined {
    const room = column.room.slice();
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
      const { requests } = bucket;
      for (let r = 0; r < room.length; r++) {
        room[r] = (room[r] ?? 0) - amount * (requests[r] ?? 0);
      }
      buckets.push(index);
      amounts.push(amount);
      value += amount * (this.values[index] ?? 0);
    }
    return buckets.length === 0 ? undefined : { column, buckets, amounts, value };
  }
}

function howMany({ requests, perNode }: Bucket, room: Float64Array, available: number): number {
  let amount = Math.min(available, perNode);
  for (let r = 0; r < requests.length && amount > 0; r++) {
    const each = requests[r] ?? 0;
    if (each > 0) amount = Math.min(amount, Math.floor((room[r] ?? 0) / each));
  }
  return amount;
}
