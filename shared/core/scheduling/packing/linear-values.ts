import { type Column, compareColumns } from '../problem/columns.ts';
import { type Basis, pivot, startBasis } from './basis.ts';
import type { Bucket, Pattern } from './fill.ts';

/** Nodes that together have what the pods request: one row for each main resource and each kind of place. */
class Covering {
  private readonly columns: readonly Column[];
  private readonly rows: readonly number[];
  private readonly rooms: readonly Float64Array[];
  private readonly nodePrice: number;
  private readonly basis: Basis;

  constructor(
    total: Float64Array,
    rows: readonly number[],
    columns: readonly Column[],
    nodePrice: number,
  ) {
    this.columns = columns;
    this.rows = rows;
    this.nodePrice = nodePrice;
    this.rooms = columns.map(({ room }) => Float64Array.from(rows, (r) => room[r] ?? 1));
    const starts = rows.map((_, row) => this.cheapestFor(row));
    this.basis = startBasis(total, starts, nodePrice);
  }

  /** What one unit of each row is worth. */
  solve(): Float64Array {
    for (let pivots = 0; pivots < PIVOTS_MAX; pivots++) {
      const entering = this.entering();
      if (entering === undefined || !pivot(this.basis, entering.pattern, entering.gain)) break;
    }
    return this.basis.duals;
  }

  /** The column that has most of one row for its price, and nothing else. */
  private cheapestFor(row: number): Pattern {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [index, { price }] of this.columns.entries()) {
      const cost = (price + this.nodePrice) / Math.max(this.rooms[index]?.[row] ?? 0, 1e-9);
      if (cost >= least) continue;
      least = cost;
      best = index;
    }
    return this.pattern(best, [row], [this.rooms[best]?.[row] ?? 0]);
  }

  /** What improves the programme most: a column, or having more of a row than is needed. */
  private entering(): { readonly pattern: Pattern; readonly gain: number } | undefined {
    const { duals } = this.basis;
    let best = -1;
    let most = LEAST_GAIN;
    for (const [index, { price }] of this.columns.entries()) {
      const room = this.rooms[index] as Float64Array;
      let gain = -price - this.nodePrice;
      for (let row = 0; row < room.length; row++) gain += (duals[row] ?? 0) * (room[row] ?? 0);
      if (gain <= most) continue;
      most = gain;
      best = index;
    }
    if (best >= 0) {
      const every = this.rows.map((_, row) => row);
      const amounts = [...(this.rooms[best] as Float64Array)];
      return { pattern: this.pattern(best, every, amounts), gain: most };
    }
    const surplus = duals.findIndex((each) => each < -LEAST_GAIN);
    if (surplus < 0) return undefined;
    return { pattern: this.pattern(0, [surplus], [-1]), gain: -(duals[surplus] ?? 0) };
  }

  private pattern(index: number, buckets: readonly number[], amounts: readonly number[]): Pattern {
    return { column: this.columns[index] as Column, buckets, amounts, value: 0 };
  }
}

/** Rows are ten or so, and each pivot brings in the best of all columns: few are ever needed. */
const PIVOTS_MAX = 200;

const LEAST_GAIN = 1e-9;

/**
 * What a pod of each bucket is worth if nodes could be cut like cloth, so that only sums count: how
 * much of the main resources, and how many nodes for pods that keep apart. Undefined: no columns.
 */
export function linearValues(
  buckets: readonly Bucket[],
  demand: Float64Array,
  columns: readonly Column[],
  main: readonly number[],
  nodePrice: number,
): Float64Array | undefined {
  const usable = columns
    .filter(({ group }) => buckets.some(({ allowed }) => allowed[group.id] === 1))
    .toSorted(compareColumns);
  const [first] = usable;
  if (first === undefined) return undefined;
  const rows = [...main];
  for (let r = first.room.length; r < (buckets[0]?.requests.length ?? 0); r++) rows.push(r);
  const total = Float64Array.from(rows, (r) =>
    buckets.reduce((sum, { requests }, id) => sum + (demand[id] ?? 0) * (requests[r] ?? 0), 0),
  );
  const worth = new Covering(total, rows, usable, nodePrice).solve();
  return Float64Array.from(buckets, ({ requests }) =>
    rows.reduce((sum, r, row) => sum + Math.max(0, worth[row] ?? 0) * (requests[r] ?? 0), 0),
  );
}
