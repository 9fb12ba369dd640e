import { missing } from '../../missing.ts';
import { compareOptions, type LaunchOption } from '../problem/launch-options.ts';
import { type Basis, pivot, startBasis } from './basis.ts';
import type { Pattern, PodShape } from './pattern.ts';

/**
 * Nodes that together have what the pods request: one row for each main resource and each kind of
 * place.
 */
class Covering {
  private readonly options: readonly LaunchOption[];
  private readonly rows: readonly number[];
  private readonly freeOf: readonly Float64Array[];
  private readonly nodePrice: number;
  private readonly basis: Basis;

  constructor(
    total: Float64Array,
    rows: readonly number[],
    options: readonly LaunchOption[],
    nodePrice: number,
  ) {
    this.options = options;
    this.rows = rows;
    this.nodePrice = nodePrice;
    this.freeOf = options.map(({ free }) =>
      Float64Array.from(rows, (r) => (r < free.length ? (free[r] ?? missing(r)) : 1)),
    );
    const starts = rows.map((_, row) => this.cheapestFor(row));
    this.basis = startBasis(total, starts, nodePrice);
  }

  /** What one unit of each row is worth. */
  solve(): Float64Array {
    for (let pivots = 0; pivots < PIVOTS_MAX; pivots++) {
      const entering = this.entering();
      if (entering === undefined || pivot(this.basis, entering.pattern, entering.gain) < 0) break;
    }
    return this.basis.duals;
  }

  /** The launch option that has most of one row for its price, and nothing else. */
  private cheapestFor(row: number): Pattern {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [index, { price }] of this.options.entries()) {
      const cost =
        (price + this.nodePrice) /
        Math.max((this.freeOf[index] ?? missing(index))[row] ?? missing(row), 1e-9);
      if (cost >= least) continue;
      least = cost;
      best = index;
    }
    return this.pattern(best, [row], [(this.freeOf[best] ?? missing(best))[row] ?? missing(row)]);
  }

  /** What improves the programme most: a launch option, or having more of a row than is needed. */
  private entering(): { readonly pattern: Pattern; readonly gain: number } | undefined {
    const { duals } = this.basis;
    let best = -1;
    let most = LEAST_GAIN;
    for (const [index, { price }] of this.options.entries()) {
      const free = this.freeOf[index] ?? missing(index);
      let gain = -price - this.nodePrice;
      for (let row = 0; row < free.length; row++)
        gain += (duals[row] ?? missing(row)) * (free[row] ?? missing(row));
      if (gain <= most) continue;
      most = gain;
      best = index;
    }
    if (best >= 0) {
      const every = this.rows.map((_, row) => row);
      const amounts = [...(this.freeOf[best] ?? missing(best))];
      return { pattern: this.pattern(best, every, amounts), gain: most };
    }
    const surplus = duals.findIndex((each) => each < -LEAST_GAIN);
    if (surplus < 0) return undefined;
    return {
      pattern: this.pattern(0, [surplus], [-1]),
      gain: -(duals[surplus] ?? missing(surplus)),
    };
  }

  private pattern(index: number, shapes: readonly number[], amounts: readonly number[]): Pattern {
    return { option: this.options[index] ?? missing(index), shapes, amounts, value: 0 };
  }
}

/**
 * Rows are ten or so, and each pivot brings in the best of all launch options: few are ever needed.
 */
const PIVOTS_MAX = 200;

const LEAST_GAIN = 1e-9;

/** What one unit of each row of a {@link Covering} is worth, USD an hour. */
export class LinearPrices {
  private readonly rows: readonly number[];
  private readonly worth: Float64Array;

  constructor(rows: readonly number[], worth: Float64Array) {
    this.rows = rows;
    this.worth = worth;
  }

  /** Of so much of all resources, such as a pod requests or a node has. */
  of(amounts: Float64Array): number {
    return this.rows.reduce(
      (sum, r, row) => sum + Math.max(0, this.worth[row] ?? missing(row)) * (amounts[r] ?? 0),
      0,
    );
  }
}

/** What pods are counted by: the main resources, and how many nodes those need that keep apart. */
export function coveringRows(
  shapes: readonly PodShape[],
  { free }: LaunchOption,
  main: readonly number[],
): readonly number[] {
  const rows = [...main];
  for (let r = free.length; r < (shapes[0]?.requests.length ?? 0); r++) rows.push(r);
  return rows;
}

/** What so many pods of each shape request, by row. */
export function coveredBy(
  shapes: readonly PodShape[],
  demand: Float64Array,
  rows: readonly number[],
): Float64Array {
  const total = new Float64Array(rows.length);
  for (const { id, requests } of shapes) {
    const count = demand[id] ?? missing(id);
    for (let row = 0; row < rows.length; row++) {
      const r = rows[row] ?? missing(row);
      total[row] = (total[row] ?? missing(row)) + count * (requests[r] ?? missing(r));
    }
  }
  return total;
}

/** Those that a shape may go to, the cheapest first. */
export function optionsFor(
  shapes: readonly PodShape[],
  options: readonly LaunchOption[],
): readonly LaunchOption[] {
  const groups = new Map<number, boolean>();
  const isUsable = ({ group: { id } }: LaunchOption): boolean => {
    const is = groups.get(id) ?? shapes.some(({ allowed }) => allowed[id] === 1);
    groups.set(id, is);
    return is;
  };
  return options.filter(isUsable).toSorted(compareOptions);
}

/** What resources are worth if pods and nodes could be cut into pieces, so that only sums count. */
export function linearPrices(
  rows: readonly number[],
  total: Float64Array,
  options: readonly LaunchOption[],
  nodePrice: number,
): LinearPrices {
  return new LinearPrices(rows, new Covering(total, rows, options, nodePrice).solve());
}

/** What a pod of each shape is worth by {@link linearPrices}. Undefined: no launch options. */
export function linearValues(
  shapes: readonly PodShape[],
  demand: Float64Array,
  options: readonly LaunchOption[],
  main: readonly number[],
  nodePrice: number,
): Float64Array | undefined {
  const usable = optionsFor(shapes, options);
  const [first] = usable;
  if (first === undefined) return undefined;
  const rows = coveringRows(shapes, first, main);
  const prices = linearPrices(rows, coveredBy(shapes, demand, rows), usable, nodePrice);
  return Float64Array.from(shapes, ({ requests }) => prices.of(requests));
}
