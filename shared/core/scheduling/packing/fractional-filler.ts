import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { howMany, type Pattern, type PodShape } from './pattern.ts';
import { sortByKey } from './value-order.ts';

/** Mixes of the two main resources: the weight of the first, the rest is the second's. */
const MIXES: readonly number[] = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const LAST = MIXES.length - 1;

/** What the shapes take of a launch option, as shares of it. */
interface OptionShares {
  readonly first: Float64Array;
  readonly second: Float64Array;
  /** Whole pods of the shape that go in at most; 0 = none is allowed or fits. */
  readonly most: Float64Array;
  /** Orders of shapes by mix; launch options of equal proportions share them. */
  readonly orders: Order[];
  /** The mix at which the last pattern changed from one resource's side to the other's. */
  crossing: number;
}

/** Shapes by falling value for what they use under one mix. */
interface Order {
  readonly ids: Int32Array;
  readonly keys: Float64Array;
  /** The values that it was last sorted by. */
  version: number;
}

/**
 * A pattern in pieces, and how much more it takes of the first main resource than of the second.
 */
interface FractionalPattern {
  readonly amounts: Float64Array;
  excess: number;
}

/**
 * Fills nodes when pods may be cut into pieces, though no more of a shape goes in than whole pods
 * would: the most that a node can be worth. Only the two main resources are weighed against each
 * other; the others just have to suffice.
 */
export class FractionalFiller {
  /** Work done: shapes looked at. */
  steps = 0;
  /** And shapes sorted by what they are worth. */
  sorted = 0;
  private readonly shapes: readonly PodShape[];
  private readonly main: readonly number[];
  readonly demand: Float64Array;
  private readonly knownShares = new Map<LaunchOption, OptionShares>();
  private readonly orders = new Map<string, Order[]>();
  private readonly below: FractionalPattern;
  private readonly above: FractionalPattern;
  private values: Float64Array;
  private version = 0;
  /** Room left for pods that keep apart, by kind; and of each shape its first kind and share. */
  private readonly places: Float64Array;
  private readonly placeOf: Int32Array;
  private readonly shareOf: Float64Array;

  constructor(
    shapes: readonly PodShape[],
    options: readonly LaunchOption[],
    main: readonly number[],
    demand: Float64Array,
  ) {
    this.shapes = shapes;
    this.main = main;
    this.demand = demand;
    this.values = new Float64Array(shapes.length);
    const resources = options[0]?.free.length ?? 0;
    this.places = new Float64Array((shapes[0]?.requests.length ?? 0) - resources);
    this.placeOf = Int32Array.from(shapes, ({ requests }) =>
      requests.subarray(resources).findIndex((share) => share > 0),
    );
    this.shareOf = Float64Array.from(shapes, ({ requests }, id) => {
      const place = this.placeOf[id] ?? missing(id);
      return place < 0 ? 1 : (requests[resources + place] ?? missing(resources + place));
    });
    this.below = { amounts: new Float64Array(shapes.length), excess: 0 };
    this.above = { amounts: new Float64Array(shapes.length), excess: 0 };
  }

  setValues(values: Float64Array): void {
    this.values = values;
    this.version++;
  }

  /** The most valuable pattern of the launch option in pieces; undefined = nothing fits. */
  best(option: LaunchOption): Pattern | undefined {
    const shares = this.sharesOf(option);
    const { below, above } = this;
    let low = Math.min(shares.crossing, LAST - 1);
    this.fill(shares, low, below);
    if (below.excess <= 0 && low > 0) {
      low = 0;
      this.fill(shares, low, below);
    }
    if (below.excess <= 0) return this.pattern(option, below.amounts);
    let high = low + 1;
    this.fill(shares, high, above);
    if (above.excess > 0 && high < LAST) {
      high = LAST;
      this.fill(shares, high, above);
    }
    if (above.excess > 0) return this.pattern(option, above.amounts);
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const excess = this.excessAt(shares, middle);
      if (excess > 0) low = middle;
      else high = middle;
    }
    shares.crossing = low;
    this.fill(shares, low, below);
    this.fill(shares, high, above);
    mixInto(below, above);
    return this.pattern(option, below.amounts);
  }

  private excessAt(shares: OptionShares, mix: number): number {
    this.fill(shares, mix, this.above);
    return this.above.excess;
  }

  private sharesOf(option: LaunchOption): OptionShares {
    const known = this.knownShares.get(option);
    if (known !== undefined) return known;
    const { free, group } = option;
    const [first = 0, second = first] = this.main;
    const { shapes, demand } = this;
    const share = (r: number) => {
      const room = Math.max(free[r] ?? missing(r), 1e-9);
      const taken = new Float64Array(shapes.length);
      for (let id = 0; id < taken.length; id++) {
        taken[id] = (shapes[id]?.requests[r] ?? missing(id)) / room;
      }
      return taken;
    };
    const most = new Float64Array(shapes.length);
    for (let id = 0; id < most.length; id++) {
      const shape = shapes[id] ?? missing(id);
      if (shape.allowed[group.id] === 1) most[id] = howMany(shape, free, demand[id] ?? missing(id));
    }
    const text = String(
      (free[second] ?? missing(second)) / Math.max(free[first] ?? missing(first), 1e-9),
    );
    let orders = this.orders.get(text);
    if (orders === undefined) {
      orders = MIXES.map(() => ({
        ids: Int32Array.from(this.shapes, (_, index) => index),
        keys: new Float64Array(this.shapes.length),
        version: -1,
      }));
      this.orders.set(text, orders);
    }
    const shares: OptionShares = {
      first: share(first),
      second: share(second),
      most,
      orders,
      crossing: LAST >> 1,
    };
    this.knownShares.set(option, shares);
    return shares;
  }

  /** Uses one node's worth of the mix, the densest shapes first. */
  private fill(shares: OptionShares, mix: number, into: FractionalPattern): void {
    const { first, second, most } = shares;
    const { ids } = this.order(shares, mix);
    const weight = MIXES[mix] ?? missing(mix);
    const { amounts } = into;
    amounts.fill(0);
    this.places.fill(1);
    let capacity = 1;
    let excess = 0;
    for (let at = 0; at < ids.length && capacity > 1e-9; at++) {
      const id = ids[at] ?? missing(at);
      this.steps++;
      let limit = most[id] ?? missing(id);
      if (limit === 0 || (this.values[id] ?? missing(id)) <= 0) continue;
      const place = this.placeOf[id] ?? missing(id);
      if (place >= 0)
        limit = Math.min(
          limit,
          (this.places[place] ?? missing(place)) / (this.shareOf[id] ?? missing(id)),
        );
      const one = first[id] ?? missing(id);
      const other = second[id] ?? missing(id);
      const use = weight * one + (1 - weight) * other;
      const amount = use * limit > capacity ? capacity / use : limit;
      amounts[id] = amount;
      if (place >= 0) {
        this.places[place] =
          (this.places[place] ?? missing(place)) - amount * (this.shareOf[id] ?? missing(id));
      }
      capacity -= amount * use;
      excess += amount * (one - other);
    }
    into.excess = excess;
  }

  /** Orders hardly change from one set of values to the next. */
  private order(shares: OptionShares, mix: number): Order {
    const order = shares.orders[mix] ?? missing(mix);
    if (order.version === this.version) return order;
    order.version = this.version;
    this.sorted += order.ids.length;
    const weight = MIXES[mix] ?? missing(mix);
    const { ids, keys } = order;
    const { first, second } = shares;
    for (let id = 0; id < keys.length; id++) {
      const use = weight * (first[id] ?? missing(id)) + (1 - weight) * (second[id] ?? missing(id));
      keys[id] = (this.values[id] ?? missing(id)) / Math.max(use, 1e-9);
    }
    sortByKey(ids, keys);
    return order;
  }

  /** The pieces as far as the node has room for them. */
  private pattern(option: LaunchOption, amounts: Float64Array): Pattern | undefined {
    const { free } = option;
    const used = new Float64Array(free.length);
    const shapes: number[] = [];
    let value = 0;
    for (let id = 0; id < amounts.length; id++) {
      const amount = amounts[id] ?? missing(id);
      if (amount <= 1e-9) continue;
      shapes.push(id);
      value += amount * (this.values[id] ?? missing(id));
      const { requests } = this.shapes[id] ?? missing(id);
      for (let r = 0; r < used.length; r++) {
        used[r] = (used[r] ?? missing(r)) + amount * (requests[r] ?? missing(r));
      }
    }
    if (shapes.length === 0) return undefined;
    let scale = 1;
    for (let r = 0; r < used.length; r++) {
      if ((used[r] ?? missing(r)) > (free[r] ?? missing(r)))
        scale = Math.min(scale, (free[r] ?? missing(r)) / (used[r] ?? missing(r)));
    }
    const scaled = shapes.map((id) => (amounts[id] ?? missing(id)) * scale);
    return { option, shapes, amounts: scaled, value: value * scale };
  }
}

/** Mixes the second pattern into the first so that both main resources are used alike. */
function mixInto(below: FractionalPattern, above: FractionalPattern): void {
  const span = below.excess - above.excess;
  const share = span <= 0 ? 1 : -above.excess / span;
  for (let id = 0; id < below.amounts.length; id++) {
    below.amounts[id] =
      (below.amounts[id] ?? missing(id)) * share + (above.amounts[id] ?? missing(id)) * (1 - share);
  }
}
