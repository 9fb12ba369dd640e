import type { Column } from './columns.ts';
import { type Bucket, howMany, type Pattern } from './fill.ts';
import { PieceFiller } from './pieces.ts';

/**
 * Column generation (Gilmore and Gomory 1961): the linear programme chooses how many nodes of each
 * filling to launch; its duals say what a pod of each bucket is worth, and new fillings are those
 * worth more than they cost. Nodes are filled with pieces of pods, so that the best filling of a
 * node is found exactly and the programme's value is a lower bound. The basis inverse is dense: rows
 * are few hundreds.
 */
interface Basis {
  readonly size: number;
  /** Row-major inverse of the basis matrix. */
  readonly inverse: Float64Array;
  /** How much of each basic pattern is used. */
  readonly use: Float64Array;
  readonly duals: Float64Array;
}

export interface DualOptions {
  /** USD an hour added to every node. */
  readonly nodePrice: number;
  /** Patterns brought in at most. */
  readonly pivotsMax: number;
  readonly stepsMax: number;
}

/** What the relaxed problem says: nodes may be launched, and pods run, in parts. */
export interface Relaxation {
  /** What one pod of each bucket is worth, in USD an hour. Buckets that fit nowhere have 0. */
  readonly values: Float64Array;
  readonly steps: number;
}

/** Buckets looked at in all while fillings are priced: what values gain after that is little. */
const PRICING_STEPS_MAX = 4_000_000;

/** Patterns brought in before columns are priced anew. */
const SHORTLIST = 24;

/** Pods that cost nothing (a node with free room, a price of 0) are still worth placing. */
const LEAST_VALUE = 1e-7;

/** A new pattern must be worth this much more than it costs. */
const LEAST_GAIN = 1.01;

/** Columns that were worth nearly what they cost are looked at first. */
const NEAR_GAIN = 0.97;

/** By each of so many mixes of the main resources, so many columns of a group are enough. */
const EFFICIENCY_MIXES = [0, 0.25, 0.5, 0.75, 1] as const;
const EFFICIENT_COLUMNS = 4;

/** Filling each node with one bucket only. */
function startBasis(demand: Float64Array, starts: readonly Pattern[], nodePrice: number): Basis {
  const size = demand.length;
  const inverse = new Float64Array(size * size);
  const use = new Float64Array(size);
  const duals = new Float64Array(size);
  for (const [row, { column, amounts }] of starts.entries()) {
    const amount = amounts[0] ?? 1;
    inverse[row * size + row] = 1 / amount;
    use[row] = (demand[row] ?? 0) / amount;
    duals[row] = (column.price + nodePrice) / amount;
  }
  return { size, inverse, use, duals };
}

/** Brings a pattern into the basis; false where it cannot improve anything. */
function pivot(basis: Basis, pattern: Pattern, gain: number): boolean {
  const { size, inverse, use, duals } = basis;
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
    const entry = (inverse[base + column] ?? 0) / scale;
    inverse[base + column] = entry;
    duals[column] = (duals[column] ?? 0) - gain * entry;
  }
  for (let row = 0; row < size; row++) {
    const factor = direction[row] ?? 0;
    if (row === leaving || Math.abs(factor) < 1e-12) continue;
    const from = row * size;
    for (let column = 0; column < size; column++) {
      inverse[from + column] =
        (inverse[from + column] ?? 0) - factor * (inverse[base + column] ?? 0);
    }
    use[row] = Math.max(0, (use[row] ?? 0) - factor * least);
  }
  use[leaving] = least;
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

/** The columns of each group that cost least for some mix of the main resources. */
function efficientColumns(
  columns: readonly Column[],
  main: readonly number[],
  nodePrice: number,
): ReadonlySet<Column> {
  const [first = 0, second = first] = main;
  const byGroup = new Map<number, Column[]>();
  for (const column of columns) {
    const known = byGroup.get(column.group.id);
    if (known === undefined) byGroup.set(column.group.id, [column]);
    else known.push(column);
  }
  const kept = new Set<Column>();
  for (const group of byGroup.values()) {
    const scale = (r: number) => group.reduce((most, { room }) => Math.max(most, room[r] ?? 0), 1);
    const [one, other] = [scale(first), scale(second)];
    for (const mix of EFFICIENCY_MIXES) {
      const cost = ({ price, room }: Column) =>
        (price + nodePrice) /
        (mix * ((room[first] ?? 0) / one) + (1 - mix) * ((room[second] ?? 0) / other) + 1e-12);
      const ranked = group.map((column) => ({ column, cost: cost(column) }));
      ranked.sort((a, b) => a.cost - b.cost);
      for (const { column } of ranked.slice(0, EFFICIENT_COLUMNS)) kept.add(column);
    }
  }
  return kept;
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
  if (rows.length === 0) return { values, steps: 0 };
  const patterns = rows.map((bucket) => starts[bucket.id] as Pattern);
  const kept = new Set(efficientColumns(columns, main, nodePrice));
  for (const { column } of patterns) kept.add(column);
  const local = rows.map((bucket, id) => ({ ...bucket, id }));
  const localDemand = Float64Array.from(rows, (bucket) => demand[bucket.id] ?? 0);
  const basis = startBasis(localDemand, patterns, nodePrice);
  const filler = new PieceFiller(local, columns, main, localDemand);
  improve(basis, filler, [...kept], options);
  for (const [index, bucket] of rows.entries()) {
    values[bucket.id] = Math.max(LEAST_VALUE, basis.duals[index] ?? 0);
  }
  return { values, steps: filler.steps };
}

/** Brings fillings in that are worth more than they cost until none is found. */
function improve(
  basis: Basis,
  filler: PieceFiller,
  columns: readonly Column[],
  { nodePrice, pivotsMax, stepsMax }: DualOptions,
): void {
  let near: readonly Column[] = columns;
  for (
    let pivots = 0;
    pivots < pivotsMax && filler.steps < Math.min(stepsMax, PRICING_STEPS_MAX);
  ) {
    filler.setValues(basis.duals.map((each) => Math.max(0, each)));
    const isAll = near === columns;
    const priced = price(filler, near, nodePrice);
    let entered = 0;
    for (const { pattern, gain } of priced.slice(0, SHORTLIST)) {
      if (gain <= LEAST_GAIN) break;
      const cost = pattern.column.price + nodePrice;
      const worth = worthOf(pattern, basis.duals);
      if (worth <= LEAST_GAIN * cost || !pivot(basis, pattern, worth - cost)) continue;
      entered++;
      pivots++;
    }
    if (isAll && entered === 0) return;
    if (isAll) {
      near = priced.filter(({ gain }) => gain > NEAR_GAIN).map(({ pattern }) => pattern.column);
    } else if (entered === 0) near = columns;
  }
}

function worthOf(pattern: Pattern, duals: Float64Array): number {
  let value = 0;
  for (const [index, bucket] of pattern.buckets.entries()) {
    value += (duals[bucket] ?? 0) * (pattern.amounts[index] ?? 0);
  }
  return value;
}

/** The best filling of each column, those most worth their cost first. */
function price(filler: PieceFiller, columns: readonly Column[], nodePrice: number) {
  const found: { readonly pattern: Pattern; readonly gain: number }[] = [];
  for (const column of columns) {
    const pattern = filler.best(column);
    if (pattern === undefined) continue;
    found.push({ pattern, gain: pattern.value / (column.price + nodePrice + 1e-12) });
  }
  return found.sort((a, b) => b.gain - a.gain);
}
