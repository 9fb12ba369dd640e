import { missing } from '../../missing.ts';
import { compareOptions, type LaunchOption } from '../problem/launch-options.ts';
import {
  coveredBy,
  coveringRows,
  type LinearPrices,
  linearPrices,
  optionsFor,
} from './linear-values.ts';
import { freeFor, howMany, type Pattern, type PodShape, take } from './pattern.ts';
import { RequestTree } from './request-tree.ts';

/** Of nodes that are worth nearly as much for their price the dearest: the rest is small. */
const NEARLY = 0.99;

/** Launch options in a row that are filled and are no better than one before. */
const VAIN_MAX = 16;

/**
 * Fills nodes with pods of many shapes: the next pod is the one with the largest dot product of its
 * requests and what is free, so that all resources of a node come to their end together.
 * R. Panigrahy et al., Heuristics for Vector Bin Packing, 2011.
 */
export class DotProductFiller {
  private readonly shapes: readonly PodShape[];
  private readonly main: readonly number[];
  /** Pods left, by shape: never more than before. */
  private readonly left: Float64Array;
  private readonly options: readonly LaunchOption[];
  private readonly nodePrice: number;
  private readonly tree: RequestTree;
  /** What all pods request that are left, by row. */
  private readonly rows: readonly number[];
  private readonly total: Float64Array;
  /** Pods left when the total was counted. */
  private readonly counted: Float64Array;

  constructor(
    shapes: readonly PodShape[],
    main: readonly number[],
    left: Float64Array,
    options: readonly LaunchOption[],
    nodePrice: number,
  ) {
    this.shapes = shapes;
    this.main = main;
    this.left = left;
    this.options = optionsFor(shapes, options);
    this.nodePrice = nodePrice;
    const isLeft = (id: number) => (left[id] ?? missing(id)) > 0;
    this.tree = new RequestTree(shapes, main, shapes.map(({ id }) => id).filter(isLeft));
    const [first] = this.options;
    this.rows = first === undefined ? [] : coveringRows(shapes, first, main);
    this.total = coveredBy(shapes, left, this.rows);
    this.counted = left.slice();
  }

  /** Work done: shapes looked at, and groups of them. */
  get steps(): number {
    return this.tree.steps;
  }

  /** To be told after pods of these shapes were placed. */
  placed(ids: readonly number[]): void {
    const { shapes, left, rows, total, counted } = this;
    for (const id of ids) {
      const { requests } = shapes[id] ?? missing(id);
      const now = left[id] ?? missing(id);
      const gone = (counted[id] ?? missing(id)) - now;
      for (const [row, r] of rows.entries()) {
        total[row] = Math.max(0, (total[row] ?? missing(row)) - gone * (requests[r] ?? missing(r)));
      }
      counted[id] = now;
      if (now <= 0) this.tree.close(id);
    }
  }

  /**
   * Of the launch options that may be launched, the pattern that is worth most for its cost, or the
   * dearest that is nearly so: what follows is small. Undefined: no pod fits anywhere.
   */
  best(mayLaunch: (option: LaunchOption) => boolean): Pattern | undefined {
    const { rows, total, nodePrice } = this;
    const options = this.options.filter(mayLaunch);
    if (options.length === 0) return undefined;
    const prices = linearPrices(rows, total, options, nodePrice);
    // What a node could be worth at most for its cost.
    const ranked = options
      .map((option) => {
        const cost = option.price + nodePrice;
        return { option, cost, ratio: prices.of(freeFor(this.shapes, option)) / cost };
      })
      .sort((a, b) => b.ratio - a.ratio || compareOptions(a.option, b.option));
    const least = (ranked[0]?.ratio ?? 0) * NEARLY;
    const near = ranked.filter(({ ratio }) => ratio >= least).sort((a, b) => b.cost - a.cost);
    let best: Pattern | undefined;
    let score = 0;
    let vain = 0;
    for (const { option, cost, ratio } of [...near, ...ranked.slice(near.length)]) {
      if (score >= least || ratio <= score || vain >= VAIN_MAX) break;
      const pattern = this.fill(option, prices);
      vain++;
      if (pattern === undefined || pattern.value / cost <= score) continue;
      vain = 0;
      best = pattern;
      score = pattern.value / cost;
    }
    return best;
  }

  private fill(option: LaunchOption, prices: LinearPrices): Pattern | undefined {
    const { shapes, left } = this;
    const free = freeFor(shapes, option);
    const amounts = new Map<number, number>();
    const mayTake = (id: number): boolean => {
      const shape = shapes[id] ?? missing(id);
      // Pods that came to a node beside its pattern are not told of.
      const isLeft = (amounts.get(id) ?? 0) < (left[id] ?? missing(id));
      return isLeft && howMany(shape, free, 1) === 1;
    };
    const full: number[] = [];
    let value = 0;
    for (;;) {
      const id = this.tree.largest({
        weights: this.weightsOf(option, free),
        free,
        group: option.group.id,
        mayTake,
      });
      if (id === undefined) break;
      const shape = shapes[id] ?? missing(id);
      const amount = (amounts.get(id) ?? 0) + 1;
      take(free, shape, 1);
      amounts.set(id, amount);
      value += prices.of(shape.requests);
      if (amount < Math.min(left[id] ?? missing(id), shape.perNode)) continue;
      this.tree.close(id);
      full.push(id);
    }
    for (const id of full) this.tree.open(id);
    if (amounts.size === 0) return undefined;
    return { option, shapes: [...amounts.keys()], amounts: [...amounts.values()], value };
  }

  /** What is free, and requests with it, as shares of the whole node. */
  private weightsOf({ free: whole }: LaunchOption, free: Float64Array): Float64Array {
    return Float64Array.from(this.main, (r) => {
      const all = Math.max(whole[r] ?? missing(r), 1e-9);
      return Math.max(0, free[r] ?? missing(r)) / (all * all);
    });
  }
}
