import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { fitting, freeFor, type Pattern, type PodShape } from './pattern.ts';
import { tightestMix, usesBy } from './tightest-mix.ts';

/** Shapes, what one of each is worth, and by which resources patterns are bounded. */
interface Valued {
  readonly shapes: readonly PodShape[];
  readonly values: Float64Array;
  readonly main: readonly number[];
  readonly mixes: readonly Float64Array[];
}

/** Depth-first branch and bound for the most valuable pattern of one node. */
export class PatternSearch {
  steps = 0;
  private stepsMax = 0;
  private readonly candidates: readonly number[];
  private readonly option: LaunchOption;
  private readonly free: Float64Array;
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
  private readonly improvements: Int32Array[] = [];

  constructor(
    { shapes, values, main, mixes }: Valued,
    candidates: readonly number[],
    option: LaunchOption,
    left: Float64Array,
    isTight: boolean,
  ) {
    this.option = option;
    this.main = Int32Array.from(main);
    this.whole = new Float64Array(main.length);
    for (const [at, r] of main.entries())
      this.whole[at] = 1 / Math.max(option.free[r] ?? missing(r), 1e-9);
    this.shares = new Float64Array(main.length);
    const worthOf = (index: number) => values[index] ?? missing(index);
    const tightest = isTight ? this.tightestOf(candidates, shapes, worthOf, mixes) : undefined;
    this.candidates =
      tightest === undefined ? candidates : this.byDensity(candidates, shapes, worthOf, tightest);
    this.free = freeFor(shapes, option);
    this.amounts = new Int32Array(candidates.length);
    const width = this.free.length;
    const count = candidates.length;
    this.requests = new Float64Array(count * width);
    this.worth = new Float64Array(count);
    this.most = new Float64Array(count);
    // A node is searched in microseconds: iterators would take most of them.
    for (let at = 0; at < count; at++) {
      const index = this.candidates[at] ?? missing(at);
      const { requests, perNode } = shapes[index] ?? missing(index);
      for (let r = 0; r < width; r++) this.requests[at * width + r] = requests[r] ?? missing(r);
      this.worth[at] = worthOf(index);
      this.most[at] = Math.min(left[index] ?? missing(index), perNode);
    }
    const all = tightest === undefined ? mixes : [tightest, ...mixes];
    this.mixCount = all.length;
    this.weights = new Float64Array(all.length * main.length);
    for (const [each, mix] of all.entries()) this.weights.set(mix, each * main.length);
    this.densest = this.densities(this.sharesOf(this.candidates, shapes), all);
  }

  /** What one of each candidate asks for of the main resources, as shares of the whole room. */
  private sharesOf(candidates: readonly number[], shapes: readonly PodShape[]): Float64Array {
    const { main, whole } = this;
    const width = main.length;
    const shares = new Float64Array(candidates.length * width);
    for (let at = 0; at < candidates.length; at++) {
      const { requests } = shapes[candidates[at] ?? missing(at)] ?? missing(at);
      for (let r = 0; r < width; r++) {
        shares[at * width + r] =
          (requests[main[r] ?? missing(r)] ?? missing(r)) * (whole[r] ?? missing(r));
      }
    }
    return shares;
  }

  private tightestOf(
    candidates: readonly number[],
    shapes: readonly PodShape[],
    worthOf: (index: number) => number,
    mixes: readonly Float64Array[],
  ): Float64Array {
    const worth = Float64Array.from(candidates, worthOf);
    return tightestMix(worth, this.sharesOf(candidates, shapes), mixes);
  }

  /** Those first that are worth most for what they use by the mix. */
  private byDensity(
    candidates: readonly number[],
    shapes: readonly PodShape[],
    worthOf: (index: number) => number,
    mix: Float64Array,
  ): readonly number[] {
    const uses = usesBy(mix, this.sharesOf(candidates, shapes));
    return candidates
      .map((index, at) => ({ index, density: worthOf(index) / (uses[at] ?? missing(at)) }))
      .sort((a, b) => b.density - a.density || a.index - b.index)
      .map(({ index }) => index);
  }

  /** No pattern is worth more. */
  get ceiling(): number {
    return Math.min(...this.densest.subarray(0, this.mixCount));
  }

  /** The best pattern found that is worth more than the start and than `above`, or the start. */
  run(start: Pattern, stepsMax: number, above = 0): Pattern {
    this.stepsMax = stepsMax;
    this.bestValue = Math.max(above, start.value * (1 + 1e-9));
    this.visit(0, 0);
    return this.bestAmounts === undefined ? start : this.pattern(this.bestAmounts, this.bestValue);
  }

  /** The last patterns, up to so many, of which each was the best so far. */
  last(count: number): readonly Pattern[] {
    return this.improvements.slice(-count).map((amounts) => {
      const value = amounts.reduce(
        (sum, amount, at) => sum + amount * (this.worth[at] ?? missing(at)),
        0,
      );
      return this.pattern(amounts, value);
    });
  }

  private pattern(found: Int32Array, value: number): Pattern {
    const shapes: number[] = [];
    const amounts: number[] = [];
    for (const [at, amount] of found.entries()) {
      if (amount === 0) continue;
      shapes.push(this.candidates[at] ?? missing(at));
      amounts.push(amount);
    }
    return { option: this.option, shapes, amounts, value };
  }

  private densities(shares: Float64Array, mixes: readonly Float64Array[]): Float64Array {
    const { worth } = this;
    const width = mixes.length;
    const densest = new Float64Array((worth.length + 1) * width);
    for (const [each, mix] of mixes.entries()) {
      const uses = usesBy(mix, shares);
      for (let at = worth.length - 1; at >= 0; at--) {
        const later = densest[(at + 1) * width + each] ?? missing(at);
        const density = (worth[at] ?? missing(at)) / (uses[at] ?? missing(at));
        densest[at * width + each] = Math.max(density, later);
      }
    }
    return densest;
  }

  /**
   * Whether the rest of the room can be worth so much that more than the best comes of it, with the
   * candidates from `at` on: no mix of the main resources rules it out.
   */
  private isPromising(at: number, value: number): boolean {
    const { densest, main, mixCount, weights, whole, free, shares, bestValue } = this;
    const count = main.length;
    for (let r = 0; r < count; r++)
      shares[r] =
        (free[main[r] ?? missing(r)] ?? missing(main[r] ?? missing(r))) * (whole[r] ?? missing(r));
    const base = at * mixCount;
    for (let each = 0, weight = 0; each < mixCount; each++) {
      let use = 0;
      for (let r = 0; r < count; r++, weight++)
        use += (weights[weight] ?? missing(weight)) * (shares[r] ?? missing(r));
      if (value + (densest[base + each] ?? missing(base + each)) * use <= bestValue) return false;
    }
    return true;
  }

  /** How many more of the candidate the room holds. */
  private howMany(at: number): number {
    const { requests, free } = this;
    const width = free.length;
    const base = at * width;
    let amount = this.most[at] ?? missing(at);
    for (let r = 0; r < width && amount > 0; r++) {
      const each = requests[base + r] ?? missing(base + r);
      if (each <= 0) continue;
      const fit = fitting(free[r] ?? missing(r), each);
      if (fit < amount) amount = fit;
    }
    return amount;
  }

  private take(at: number, amount: number): void {
    const { requests, free } = this;
    const width = free.length;
    const base = at * width;
    for (let r = 0; r < width; r++)
      free[r] = (free[r] ?? missing(r)) - amount * (requests[base + r] ?? missing(base + r));
  }

  private visit(from: number, value: number): void {
    if (value > this.bestValue) {
      this.bestValue = value;
      this.bestAmounts = this.amounts.slice();
      this.improvements.push(this.bestAmounts);
    }
    const count = this.candidates.length;
    for (let at = from; at < count; at++) {
      if (++this.steps > this.stepsMax || !this.isPromising(at, value)) return;
      const most = this.howMany(at);
      if (most === 0) continue;
      const each = this.worth[at] ?? missing(at);
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
