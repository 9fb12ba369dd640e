import type { Column } from '../problem/columns.ts';
import { type Basis, pivot, startBasis } from './basis.ts';
import { type Bucket, howMany, type Pattern } from './fill.ts';
import { linearValues } from './linear-values.ts';
import { PieceFiller } from './pieces.ts';

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

/** Columns whose best filling was nearly as good as the best of all are looked at first. */
const NEAR_GAIN = 0.97;

/** Weight of the steadiest values known, against that of the duals. */
const STEADINESS = 0.8;

/** By each of so many mixes of the main resources, so many columns of a group are enough. */
const EFFICIENCY_MIXES = [0, 0.25, 0.5, 0.75, 1] as const;
const EFFICIENT_COLUMNS = 4;

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
  const center = linearValues(local, localDemand, columns, main, nodePrice);
  new Generation(basis, filler, [...kept], options, center).run();
  for (const [index, bucket] of rows.entries()) {
    values[bucket.id] = Math.max(LEAST_VALUE, basis.duals[index] ?? 0);
  }
  return { values, steps: filler.steps };
}

/**
 * Column generation (Gilmore and Gomory 1961): the linear programme chooses how many nodes of each
 * filling to launch; its duals say what a pod of each bucket is worth, and new fillings are those
 * worth more than they cost. Nodes are filled with pieces of pods, so that the best filling of a
 * node is found exactly. Duals swing wildly at first, so fillings are made by values between them
 * and the steadiest known (Wentges 1997): those with the best lower bound.
 */
class Generation {
  private readonly basis: Basis;
  private readonly filler: PieceFiller;
  private readonly columns: readonly Column[];
  private readonly options: DualOptions;
  private center: Float64Array | undefined;
  private bound = 0;
  private steadiness = STEADINESS;
  private pivots = 0;

  constructor(
    basis: Basis,
    filler: PieceFiller,
    columns: readonly Column[],
    options: DualOptions,
    center: Float64Array | undefined,
  ) {
    this.basis = basis;
    this.filler = filler;
    this.columns = columns;
    this.options = options;
    this.center = center;
  }

  /** Brings fillings in that are worth more than they cost until none is found. */
  run(): void {
    const { columns } = this;
    const { pivotsMax, stepsMax, nodePrice } = this.options;
    const most = Math.min(stepsMax, PRICING_STEPS_MAX);
    let near: readonly Column[] = columns;
    while (this.pivots < pivotsMax && this.filler.steps < most) {
      const values = this.values();
      this.filler.setValues(values);
      const isAll = near === columns;
      const priced = price(this.filler, near, nodePrice);
      const gainMost = priced[0]?.gain ?? 0;
      if (isAll) this.steady(values, gainMost);
      const entered = this.enter(priced);
      if (isAll && entered === 0) {
        if (this.steadiness === 0) return;
        this.steadiness = 0;
      } else if (isAll) {
        const isNear = ({ gain }: Priced) => gain > NEAR_GAIN * gainMost;
        near = priced.filter(isNear).map(({ pattern }) => pattern.column);
      } else if (entered === 0) near = columns;
    }
  }

  private values(): Float64Array {
    const { center, steadiness } = this;
    return this.basis.duals.map(
      (dual, row) => steadiness * (center?.[row] ?? 0) + (1 - steadiness) * Math.max(0, dual),
    );
  }

  /** Values are kept when, scaled so that no filling is worth more than it costs, they sum to more. */
  private steady(values: Float64Array, gainMost: number): void {
    if (gainMost <= 0) return;
    const { demand } = this.filler;
    const bound =
      values.reduce((sum, value, row) => sum + value * (demand[row] ?? 0), 0) / gainMost;
    if (bound <= this.bound) return;
    this.bound = bound;
    this.center = values.map((value) => value / gainMost);
  }

  private enter(priced: readonly Priced[]): number {
    let entered = 0;
    for (const { pattern } of priced.slice(0, SHORTLIST)) {
      const cost = pattern.column.price + this.options.nodePrice;
      const worth = worthOf(pattern, this.basis.duals);
      if (worth <= LEAST_GAIN * cost || !pivot(this.basis, pattern, worth - cost)) continue;
      entered++;
    }
    this.pivots += entered;
    return entered;
  }
}

interface Priced {
  readonly pattern: Pattern;
  /** What it is worth for each USD that it costs. */
  readonly gain: number;
}

function worthOf(pattern: Pattern, duals: Float64Array): number {
  let value = 0;
  for (const [index, bucket] of pattern.buckets.entries()) {
    value += (duals[bucket] ?? 0) * (pattern.amounts[index] ?? 0);
  }
  return value;
}

/** The best filling of each column, those most worth their cost first. */
function price(
  filler: PieceFiller,
  columns: readonly Column[],
  nodePrice: number,
): readonly Priced[] {
  const found: Priced[] = [];
  for (const column of columns) {
    const pattern = filler.best(column);
    if (pattern === undefined) continue;
    found.push({ pattern, gain: pattern.value / (column.price + nodePrice + 1e-12) });
  }
  return found.sort((a, b) => b.gain - a.gain);
}
