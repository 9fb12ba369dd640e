import type { Column } from '../problem/columns.ts';
import { type Bucket, howMany, type Pattern } from './fill.ts';

/** Mixes of the two main resources: the weight of the first, the rest is the second's. */
const MIXES = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] as const;
const LAST = MIXES.length - 1;

/** What the buckets take of a column, as shares of it. */
interface Shape {
  readonly first: Float64Array;
  readonly second: Float64Array;
  /** Whole pods of the bucket that go in at most; 0 = none is allowed or fits. */
  readonly most: Float64Array;
  /** Orders of buckets by mix; columns of equal proportions share them. */
  readonly orders: Order[];
  /** The mix at which the last filling changed from one resource's side to the other's. */
  crossing: number;
}

/** Buckets by falling value for what they use under one mix. */
interface Order {
  readonly ids: Int32Array;
  readonly keys: Float64Array;
  /** The values that it was last sorted by. */
  version: number;
}

/** A filling in pieces, and how much more it takes of the first main resource than of the second. */
interface Pieces {
  readonly amounts: Float64Array;
  excess: number;
}

/**
 * Fills nodes when pods may be cut into pieces, though no more of a bucket goes in than whole pods
 * would: the most that a node can be worth. Only the two main resources are weighed against each
 * other; the others just have to suffice.
 */
export class PieceFiller {
  /** Work done: buckets looked at. */
  steps = 0;
  private readonly buckets: readonly Bucket[];
  private readonly main: readonly number[];
  readonly demand: Float64Array;
  private readonly shapes = new Map<Column, Shape>();
  private readonly orders = new Map<string, Order[]>();
  private readonly below: Pieces;
  private readonly above: Pieces;
  private values: Float64Array;
  private version = 0;
  /** Room left for pods that keep apart, by kind; and of each bucket its first kind and share. */
  private readonly places: Float64Array;
  private readonly placeOf: Int32Array;
  private readonly shareOf: Float64Array;

  constructor(
    buckets: readonly Bucket[],
    columns: readonly Column[],
    main: readonly number[],
    demand: Float64Array,
  ) {
    this.buckets = buckets;
    this.main = main;
    this.demand = demand;
    this.values = new Float64Array(buckets.length);
    const resources = columns[0]?.room.length ?? 0;
    this.places = new Float64Array((buckets[0]?.requests.length ?? 0) - resources);
    this.placeOf = Int32Array.from(buckets, ({ requests }) =>
      requests.subarray(resources).findIndex((share) => share > 0),
    );
    this.shareOf = Float64Array.from(
      buckets,
      ({ requests }, id) => requests[resources + (this.placeOf[id] ?? 0)] ?? 1,
    );
    this.below = { amounts: new Float64Array(buckets.length), excess: 0 };
    this.above = { amounts: new Float64Array(buckets.length), excess: 0 };
  }

  setValues(values: Float64Array): void {
    this.values = values;
    this.version++;
  }

  /** The most valuable filling of the column in pieces; undefined = nothing fits. */
  best(column: Column): Pattern | undefined {
    const shape = this.shapeOf(column);
    const { below, above } = this;
    let low = Math.min(shape.crossing, LAST - 1);
    this.fill(shape, low, below);
    if (below.excess <= 0 && low > 0) {
      low = 0;
      this.fill(shape, low, below);
    }
    if (below.excess <= 0) return this.pattern(column, below.amounts);
    let high = low + 1;
    this.fill(shape, high, above);
    if (above.excess > 0 && high < LAST) {
      high = LAST;
      this.fill(shape, high, above);
    }
    if (above.excess > 0) return this.pattern(column, above.amounts);
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const excess = this.excessAt(shape, middle);
      if (excess > 0) low = middle;
      else high = middle;
    }
    shape.crossing = low;
    this.fill(shape, low, below);
    this.fill(shape, high, above);
    mixInto(below, above);
    return this.pattern(column, below.amounts);
  }

  private excessAt(shape: Shape, mix: number): number {
    this.fill(shape, mix, this.above);
    return this.above.excess;
  }

  private shapeOf(column: Column): Shape {
    const known = this.shapes.get(column);
    if (known !== undefined) return known;
    const { room, group } = column;
    const [first = 0, second = first] = this.main;
    const share = (r: number) =>
      Float64Array.from(
        this.buckets,
        ({ requests }) => (requests[r] ?? 0) / Math.max(room[r] ?? 0, 1e-9),
      );
    const text = String((room[second] ?? 0) / Math.max(room[first] ?? 0, 1e-9));
    let orders = this.orders.get(text);
    if (orders === undefined) {
      orders = MIXES.map(() => ({
        ids: Int32Array.from(this.buckets, (_, index) => index),
        keys: new Float64Array(this.buckets.length),
        version: -1,
      }));
      this.orders.set(text, orders);
    }
    const shape: Shape = {
      first: share(first),
      second: share(second),
      most: Float64Array.from(this.buckets, (bucket, index) =>
        bucket.allowed[group.id] === 1 ? howMany(bucket, room, this.demand[index] ?? 0) : 0,
      ),
      orders,
      crossing: LAST >> 1,
    };
    this.shapes.set(column, shape);
    return shape;
  }

  /** Uses one node's worth of the mix, the densest buckets first. */
  private fill(shape: Shape, mix: number, into: Pieces): void {
    const { first, second, most } = shape;
    const { ids } = this.sorted(shape, mix);
    const weight = MIXES[mix] ?? 0;
    const { amounts } = into;
    amounts.fill(0);
    this.places.fill(1);
    let capacity = 1;
    let excess = 0;
    for (let at = 0; at < ids.length && capacity > 1e-9; at++) {
      const id = ids[at] ?? 0;
      this.steps++;
      let limit = most[id] ?? 0;
      if (limit === 0 || (this.values[id] ?? 0) <= 0) continue;
      const place = this.placeOf[id] ?? -1;
      if (place >= 0) limit = Math.min(limit, (this.places[place] ?? 0) / (this.shareOf[id] ?? 1));
      const one = first[id] ?? 0;
      const other = second[id] ?? 0;
      const use = weight * one + (1 - weight) * other;
      const amount = use * limit > capacity ? capacity / use : limit;
      amounts[id] = amount;
      if (place >= 0) {
        this.places[place] = (this.places[place] ?? 0) - amount * (this.shareOf[id] ?? 1);
      }
      capacity -= amount * use;
      excess += amount * (one - other);
    }
    into.excess = excess;
  }

  /** Orders hardly change from one set of values to the next: insertion sorts what did. */
  private sorted(shape: Shape, mix: number): Order {
    const order = shape.orders[mix] as Order;
    if (order.version === this.version) return order;
    order.version = this.version;
    const weight = MIXES[mix] ?? 0;
    const { ids, keys } = order;
    const { first, second } = shape;
    for (let id = 0; id < keys.length; id++) {
      const use = weight * (first[id] ?? 0) + (1 - weight) * (second[id] ?? 0);
      keys[id] = (this.values[id] ?? 0) / Math.max(use, 1e-9);
    }
    for (let at = 1; at < ids.length; at++) {
      const id = ids[at] ?? 0;
      const key = keys[id] ?? 0;
      let to = at;
      for (; to > 0; to--) {
        const before = ids[to - 1] ?? 0;
        const other = keys[before] ?? 0;
        if (other > key || (other === key && before < id)) break;
        ids[to] = before;
      }
      ids[to] = id;
    }
    return order;
  }

  /** The pieces as far as the node has room for them. */
  private pattern(column: Column, amounts: Float64Array): Pattern | undefined {
    const { room } = column;
    const used = new Float64Array(room.length);
    const buckets: number[] = [];
    let value = 0;
    for (let id = 0; id < amounts.length; id++) {
      const amount = amounts[id] ?? 0;
      if (amount <= 1e-9) continue;
      buckets.push(id);
      value += amount * (this.values[id] ?? 0);
      const { requests } = this.buckets[id] as Bucket;
      for (let r = 0; r < used.length; r++) {
        used[r] = (used[r] ?? 0) + amount * (requests[r] ?? 0);
      }
    }
    if (buckets.length === 0) return undefined;
    let scale = 1;
    for (let r = 0; r < used.length; r++) {
      if ((used[r] ?? 0) > (room[r] ?? 0)) scale = Math.min(scale, (room[r] ?? 0) / (used[r] ?? 1));
    }
    const scaled = buckets.map((id) => (amounts[id] ?? 0) * scale);
    return { column, buckets, amounts: scaled, value: value * scale };
  }
}

/** Mixes the second filling into the first so that both main resources are used alike. */
function mixInto(below: Pieces, above: Pieces): void {
  const span = below.excess - above.excess;
  const share = span <= 0 ? 1 : -above.excess / span;
  for (let id = 0; id < below.amounts.length; id++) {
    below.amounts[id] = (below.amounts[id] ?? 0) * share + (above.amounts[id] ?? 0) * (1 - share);
  }
}
