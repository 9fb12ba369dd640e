import type { Column } from '../problem/columns.ts';
import type { Bucket, Pattern } from './fill.ts';

/** What a mix makes of what is used of each main resource. */
export function mixed(mix: Float64Array, shares: Float64Array): number {
  let sum = 0;
  for (let r = 0; r < shares.length; r++) sum += (mix[r] ?? 0) * (shares[r] ?? 0);
  return sum;
}

/** The column's room with places for pods that keep apart. */
export function roomFor(buckets: readonly Bucket[], { room }: Column): Float64Array {
  const whole = new Float64Array(buckets[0]?.requests.length ?? room.length).fill(1);
  whole.set(room);
  return whole;
}

/** Makes up for shares of a node that do not add up to 1 exactly. */
const ROUNDING = 1e-9;

/**
 * How many requests of so much the rest of a node holds. Amounts of resources are whole numbers and
 * counted exactly: one byte too much, and the pods need a larger node.
 */
export function fitting(rest: number, each: number): number {
  return Math.floor(each < 1 ? rest / each + ROUNDING : rest / each);
}

/** Buckets, what one of each is worth, and by which resources fillings are bounded. */
interface Valued {
  readonly buckets: readonly Bucket[];
  readonly values: Float64Array;
  readonly main: readonly number[];
  readonly mixes: readonly Float64Array[];
}

/** Depth-first branch and bound for the most valuable filling of one node. */
export class FillSearch {
  steps = 0;
  private stepsMax = 0;
  private readonly candidates: readonly number[];
  private readonly column: Column;
  private readonly room: Float64Array;
  private readonly amounts: Int32Array;
  /** What one of each candidate asks for, of all resources, one candidate after the other. */
  private readonly requests: Float64Array;
  /** By candidate: what one is worth, and how many there can be in one node whatever its room. */
  private readonly worth: Float64Array;
  private readonly most: Float64Array;
  /** By candidate and mix: the best value per use of it and all later ones. */
  private readonly densest: Float64Array;
  private readonly main: Int32Array;
  /** The mixes' weights, one mix after the other. */
  private readonly weights: Float64Array;
  private readonly mixCount: number;
  /** 1 / the whole room, of the main resources. */
  private readonly whole: Float64Array;
  /** Of the main resources, while a mix is made of them. */
  private readonly shares: Float64Array;
  private bestValue = 0;
  private bestAmounts: Int32Array | undefined;

  constructor(
    { buckets, values, main, mixes }: Valued,
    candidates: readonly number[],
    column: Column,
    left: Float64Array,
  ) {
    this.candidates = candidates;
    this.column = column;
    this.room = roomFor(buckets, column);
    this.amounts = new Int32Array(candidates.length);
    const width = this.room.length;
    this.requests = new Float64Array(candidates.length * width);
    for (let at = 0; at < candidates.length; at++) {
      this.requests.set(buckets[candidates[at] ?? 0]?.requests ?? [], at * width);
    }
    this.worth = Float64Array.from(candidates, (index) => values[index] ?? 0);
    this.most = Float64Array.from(candidates, (index) =>
      Math.min(left[index] ?? 0, buckets[index]?.perNode ?? 0),
    );
    this.main = Int32Array.from(main);
    this.mixCount = mixes.length;
    this.weights = Float64Array.from(mixes.flatMap((mix) => [...mix]));
    this.whole = Float64Array.from(main, (r) => 1 / Math.max(column.room[r] ?? 0, 1e-9));
    this.shares = new Float64Array(main.length);
    this.densest = this.densities(buckets, mixes);
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

  private densities(buckets: readonly Bucket[], mixes: readonly Float64Array[]): Float64Array {
    const count = this.candidates.length;
    const width = mixes.length;
    const densest = new Float64Array((count + 1) * width);
    const { shares } = this;
    for (let at = count - 1; at >= 0; at--) {
      const { requests } = buckets[this.candidates[at] ?? 0] as Bucket;
      for (let r = 0; r < shares.length; r++) {
        shares[r] = (requests[this.main[r] ?? 0] ?? 0) * (this.whole[r] ?? 0);
      }
      for (let each = 0; each < width; each++) {
        const use = Math.max(mixed(mixes[each] as Float64Array, shares), 1e-9);
        const later = densest[(at + 1) * width + each] ?? 0;
        densest[at * width + each] = Math.max((this.worth[at] ?? 0) / use, later);
      }
    }
    return densest;
  }

  /**
   * Whether the rest of the room can be worth so much that more than the best comes of it, with the
   * candidates from `at` on: no mix of the main resources rules it out.
   */
  private isPromising(at: number, value: number): boolean {
    const { densest, main, mixCount, weights, whole, room, shares, bestValue } = this;
    const count = main.length;
    for (let r = 0; r < count; r++) shares[r] = (room[main[r] ?? 0] ?? 0) * (whole[r] ?? 0);
    const base = at * mixCount;
    for (let each = 0, weight = 0; each < mixCount; each++) {
      let use = 0;
      for (let r = 0; r < count; r++, weight++) use += (weights[weight] ?? 0) * (shares[r] ?? 0);
      if (value + (densest[base + each] ?? 0) * use <= bestValue) return false;
    }
    return true;
  }

  /** How many more of the candidate the room holds. */
  private howMany(at: number): number {
    const { requests, room } = this;
    const width = room.length;
    const base = at * width;
    let amount = this.most[at] ?? 0;
    for (let r = 0; r < width && amount > 0; r++) {
      const each = requests[base + r] ?? 0;
      if (each <= 0) continue;
      const fit = fitting(room[r] ?? 0, each);
      if (fit < amount) amount = fit;
    }
    return amount;
  }

  private take(at: number, amount: number): void {
    const { requests, room } = this;
    const width = room.length;
    const base = at * width;
    for (let r = 0; r < width; r++) room[r] = (room[r] ?? 0) - amount * (requests[base + r] ?? 0);
  }

  private visit(from: number, value: number): void {
    if (value > this.bestValue) {
      this.bestValue = value;
      this.bestAmounts = this.amounts.slice();
    }
    const count = this.candidates.length;
    for (let at = from; at < count; at++) {
      if (++this.steps > this.stepsMax || !this.isPromising(at, value)) return;
      const most = this.howMany(at);
      if (most === 0) continue;
      const each = this.worth[at] ?? 0;
      for (let amount = most; amount > 0; amount--) {
        this.take(at, amount);
        this.amounts[at] = amount;
        this.visit(at + 1, value + amount * each);
        this.take(at, -amount);
        this.amounts[at] = 0;
        if (this.steps > this.stepsMax) return;
      }
    }
  }
}
