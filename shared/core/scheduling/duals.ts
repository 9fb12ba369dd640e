import type { Column } from './columns.ts';
import { type Bucket, Filler, howMany, type Pattern } from './fill.ts';

/**
 * Column generation (Gilmore and Gomory 1961): the linear programme chooses how many nodes of each
 * filling to launch; its duals say what a pod of each bucket is worth, and new fillings are those
 * worth more than they cost. The basis inverse is dense: rows are few hundreds.
 */
interface Basis {
  readonly size: number;
  /** Row-major inverse of the basis matrix. */
  readonly inverse: Float64Array;
  /** The basic patterns, the cost of each, and how much of it is used. */
  readonly patterns: Pattern[];
  readonly cost: Float64Array;
  readonly use: Float64Array;
}

/** What the relaxed problem says: nodes may be launched in parts. */
export interface Relaxation {
  /** What one pod of each bucket is worth, in USD an hour. Buckets that fit nowhere have 0. */
  readonly values: Float64Array;
  /** Fillings and how many nodes of each; amounts are of the buckets given. */
  readonly nodes: readonly { readonly pattern: Pattern; readonly use: number }[];
  readonly steps: number;
}

export interface DualOptions {
  /** USD an hour added to every node. */
  readonly nodePrice: number;
  /** Patterns brought in at most. */
  readonly pivotsMax: number;
  readonly stepsMax: number;
}

/** Patterns considered again before all columns are priced anew. */
const SHORTLIST = 24;

/** Pods that cost nothing (a node with free room, a price of 0) are still worth placing. */
const LEAST_VALUE = 1e-7;

/** A new pattern must be worth this much more than it costs. */
const LEAST_GAIN = 1.001;

function startBasis(demand: Float64Array, starts: readonly Pattern[], nodePrice: number): Basis {
  const size = demand.length;
  const inverse = new Float64Array(size * size);
  const cost = new Float64Array(size);
  const use = new Float64Array(size);
  for (const [row, { column, amounts }] of starts.entries()) {
    const amount = amounts[0] ?? 1;
    inverse[row * size + row] = 1 / amount;
    cost[row] = column.price + nodePrice;
    use[row] = (demand[row] ?? 0) / amount;
  }
  return { size, inverse, patterns: [...starts], cost, use };
}

function dualsOf({ size, inverse, cost }: Basis): Float64Array {
  const duals = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    const price = cost[row] ?? 0;
    if (price === 0) continue;
    for (let column = 0; column < size; column++) {
      duals[column] = (duals[column] ?? 0) + price * (inverse[row * size + column] ?? 0);
    }
  }
  return duals;
}

/** Brings a pattern into the basis; false where it cannot improve anything. */
function pivot(basis: Basis, pattern: Pattern, nodePrice: number): boolean {
  const { size, inverse, cost, use } = basis;
  const direction = new Float64Array(size);
  for (const [index, bucket] of pattern.buckets.entries()) {
    const amount = pattern.amounts[index] ?? 0;
    for (let row = 0; row < size; row++) {
      direction[row] = (direction[row] ?? 0) + (inverse[row * size + bucket] ?? 0) * amount;
    }
  }
  let leaving = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let row = 0; row < size; row++) {
    const step = direction[row] ?? 0;
    if (step <= 1e-9) continue;
    const ratio = (use[row] ?? 0) / step;
    if (ratio < least - 1e-12) {
      least = ratio;
      leaving = row;
    }
  }
  if (leaving < 0) return false;
  const scale = direction[leaving] ?? 1;
  const base = leaving * size;
  for (let column = 0; column < size; column++) {
    inverse[base + column] = (inverse[base + column] ?? 0) / scale;
  }
  for (let row = 0; row < size; row++) {
    const factor = direction[row] ?? 0;
    if (row === leaving || Math.abs(factor) < 1e-12) continue;
    for (let column = 0; column < size; column++) {
      const at = row * size + column;
      inverse[at] = (inverse[at] ?? 0) - factor * (inverse[base + column] ?? 0);
    }
    use[row] = Math.max(0, (use[row] ?? 0) - factor * least);
  }
  use[leaving] = least;
  cost[leaving] = pattern.column.price + nodePrice;
  basis.patterns[leaving] = pattern;
  return true;
}

/** Filling a node with one bucket only, at the least cost for each pod. */
function cheapestAlone(
  bucket: Bucket,
  columns: readonly Column[],
  demand: number,
  nodePrice: number,
): Pattern | undefined {
  let best: Pattern | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const column of columns) {
    if (bucket.allowed[column.group.id] !== 1) continue;
    const amount = howMany(bucket, column.room, demand);
    if (amount < 1) continue;
    const cost = (column.price + nodePrice) / amount;
    if (cost < least) {
      least = cost;
      best = { column, buckets: [bucket.id], amounts: [amount], value: 0 };
    }
  }
  return best;
}

/** Solves the relaxed problem by column generation. */
export function relax(
  buckets: readonly Bucket[],
  demand: Float64Array,
  columns: readonly Column[],
  main: readonly number[],
  options: DualOptions,
): Relaxation {
  const { nodePrice } = options;
  const starts = buckets.map((bucket) =>
    (demand[bucket.id] ?? 0) > 0
      ? cheapestAlone(bucket, columns, demand[bucket.id] ?? 0, nodePrice)
      : undefined,
  );
  const rows = buckets.filter((bucket) => starts[bucket.id] !== undefined);
  const values = new Float64Array(buckets.length);
  if (rows.length === 0) return { values, nodes: [], steps: 0 };
  const local = rows.map((bucket, id) => ({ ...bucket, id }));
  const localDemand = Float64Array.from(rows, (bucket) => demand[bucket.id] ?? 0);
  const patterns = rows.map((bucket, row) => ({
    ...(starts[bucket.id] as Pattern),
    buckets: [row],
  }));
  const basis = startBasis(localDemand, patterns, nodePrice);
  const filler = new Filler(local, main, new Float64Array(rows.length));
  const duals = improve(basis, filler, columns, localDemand, options);
  for (const [index, bucket] of rows.entries()) {
    values[bucket.id] = Math.max(LEAST_VALUE, duals[index] ?? 0);
  }
  const nodes = basis.patterns.map((pattern, row) => ({
    pattern: { ...pattern, buckets: pattern.buckets.map((each) => rows[each]?.id ?? 0) },
    use: basis.use[row] ?? 0,
  }));
  return { values, nodes, steps: filler.steps };
}

/** Brings fillings in that are worth more than they cost until none is found; the final duals. */
function improve(
  basis: Basis,
  filler: Filler,
  columns: readonly Column[],
  demand: Float64Array,
  { nodePrice, pivotsMax, stepsMax }: DualOptions,
): Float64Array {
  let duals = dualsOf(basis);
  for (let pivots = 0; pivots < pivotsMax && filler.steps < stepsMax; ) {
    filler.setValues(positive(duals));
    let entered = 0;
    for (const pattern of promising(filler, columns, demand, nodePrice)) {
      if (worth(pattern, duals) <= LEAST_GAIN * (pattern.column.price + nodePrice)) continue;
      if (!pivot(basis, pattern, nodePrice)) continue;
      duals = dualsOf(basis);
      entered++;
      pivots++;
    }
    if (entered === 0) break;
  }
  return duals;
}

function positive(duals: Float64Array): Float64Array {
  return duals.map((each) => Math.max(0, each));
}

function worth(pattern: Pattern, duals: Float64Array): number {
  let value = 0;
  for (const [index, bucket] of pattern.buckets.entries()) {
    value += (duals[bucket] ?? 0) * (pattern.amounts[index] ?? 0);
  }
  return value;
}

function promising(
  filler: Filler,
  columns: readonly Column[],
  demand: Float64Array,
  nodePrice: number,
): readonly Pattern[] {
  const found: { readonly pattern: Pattern; readonly gain: number }[] = [];
  for (const column of columns) {
    const pattern = filler.fractional(column, demand);
    if (pattern === undefined) continue;
    const gain = pattern.value / (column.price + nodePrice + 1e-12);
    if (gain > LEAST_GAIN) found.push({ pattern, gain });
  }
  return found
    .sort((a, b) => b.gain - a.gain)
    .slice(0, SHORTLIST)
    .map((each) => each.pattern);
}
