import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { type Basis, pivot, startBasis } from './basis.ts';
import { FractionalFiller } from './fractional-filler.ts';
import { linearValues } from './linear-values.ts';
import { howMany, type Pattern, type PodShape } from './pattern.ts';

export interface RelaxationLimits {
  /** USD an hour added to every node. */
  readonly nodePrice: number;
  /** Patterns brought in at most. */
  readonly pivotsMax: number;
  readonly stepsMax: number;
}

/** What the relaxed problem says: nodes may be launched, and pods run, in parts. */
export interface Relaxation {
  /** What one pod of each shape is worth, in USD an hour. Shapes that fit nowhere have 0. */
  readonly values: Float64Array;
  /** Shapes looked at, and sorted. */
  readonly steps: number;
}

/** Shapes looked at in all while patterns are priced: what values gain after that is little. */
const PRICING_STEPS_MAX = 4_000_000;

/** Patterns brought in before launch options are priced anew. */
const SHORTLIST = 24;

/** Pods that cost nothing (a node with free room, a price of 0) are still worth placing. */
const LEAST_VALUE = 1e-7;

/** A new pattern must be worth this much more than it costs. */
const LEAST_GAIN = 1.01;

/** Launch options whose best pattern was nearly as good as the best of all are looked at first. */
const NEAR_GAIN = 0.97;

/** Weight of the steadiest values known, against that of the duals. */
const STEADINESS = 0.8;

/** By each of so many mixes of the main resources, so many launch options of a group are enough. */
const EFFICIENCY_MIXES = [0, 0.25, 0.5, 0.75, 1] as const;
const EFFICIENT_OPTIONS = 4;

/** Filling a node with one shape only, at the least cost for each pod. */
export function cheapestAlone(
  shape: PodShape,
  options: readonly LaunchOption[],
  demand: number,
  nodePrice: number,
): Pattern | undefined {
  let best: Pattern | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const option of options) {
    if (shape.allowed[option.group.id] !== 1) continue;
    const amount = howMany(shape, option.free, demand);
    if (amount < 1) continue;
    const cost = (option.price + nodePrice) / amount;
    if (cost < least) {
      least = cost;
      best = { option, shapes: [shape.id], amounts: [amount], value: 0 };
    }
  }
  return best;
}

/** The launch options of each group that cost least for some mix of the main resources. */
function efficientOptions(
  options: readonly LaunchOption[],
  main: readonly number[],
  nodePrice: number,
): ReadonlySet<LaunchOption> {
  const [first = 0, second = first] = main;
  const byGroup = new Map<number, LaunchOption[]>();
  for (const option of options) {
    const known = byGroup.get(option.group.id);
    if (known === undefined) byGroup.set(option.group.id, [option]);
    else known.push(option);
  }
  const kept = new Set<LaunchOption>();
  for (const group of byGroup.values()) {
    const scale = (r: number) =>
      group.reduce((most, { free }) => Math.max(most, free[r] ?? missing(r)), 1);
    const [one, other] = [scale(first), scale(second)];
    for (const mix of EFFICIENCY_MIXES) {
      const cost = ({ price, free }: LaunchOption) =>
        (price + nodePrice) /
        (mix * ((free[first] ?? missing(first)) / one) +
          (1 - mix) * ((free[second] ?? missing(second)) / other) +
          1e-12);
      const ranked = group.map((option) => ({ option, cost: cost(option) }));
      ranked.sort((a, b) => a.cost - b.cost);
      for (const { option } of ranked.slice(0, EFFICIENT_OPTIONS)) kept.add(option);
    }
  }
  return kept;
}

/** Solves the relaxed problem by column generation. */
export function relax(
  shapes: readonly PodShape[],
  demand: Float64Array,
  options: readonly LaunchOption[],
  main: readonly number[],
  limits: RelaxationLimits,
): Relaxation {
  const { nodePrice } = limits;
  const started = shapes.flatMap((shape) => {
    const amount = demand[shape.id] ?? missing(shape.id);
    const start = amount > 0 ? cheapestAlone(shape, options, amount, nodePrice) : undefined;
    return start === undefined ? [] : [{ shape, start }];
  });
  const values = new Float64Array(shapes.length);
  if (started.length === 0) return { values, steps: 0 };
  const rows = started.map(({ shape }) => shape);
  const patterns = started.map(({ start }) => start);
  const kept = new Set(efficientOptions(options, main, nodePrice));
  for (const { option } of patterns) kept.add(option);
  const local = rows.map((shape, id) => ({ ...shape, id }));
  const localDemand = Float64Array.from(rows, (shape) => demand[shape.id] ?? missing(shape.id));
  const basis = startBasis(localDemand, patterns, nodePrice);
  const finder = new FractionalFiller(local, options, main, localDemand);
  const center = linearValues(local, localDemand, options, main, nodePrice);
  new Generation(basis, finder, [...kept], limits, center).run();
  for (const [index, shape] of rows.entries()) {
    values[shape.id] = Math.max(LEAST_VALUE, basis.duals[index] ?? missing(index));
  }
  return { values, steps: finder.steps + finder.sorted };
}

/**
 * Column generation (Gilmore and Gomory 1961): the linear programme chooses how many nodes of each
 * pattern to launch; its duals say what a pod of each shape is worth, and new patterns are those
 * worth more than they cost. Nodes are filled with pieces of pods, so that the best pattern of a
 * node is found exactly. Duals swing wildly at first, so patterns are made by values between them
 * and the steadiest known (Wentges 1997): those with the best lower bound.
 */
class Generation {
  private readonly basis: Basis;
  private readonly finder: FractionalFiller;
  private readonly options: readonly LaunchOption[];
  private readonly limits: RelaxationLimits;
  private center: Float64Array | undefined;
  private bound = 0;
  private steadiness = STEADINESS;
  private pivots = 0;

  constructor(
    basis: Basis,
    finder: FractionalFiller,
    options: readonly LaunchOption[],
    limits: RelaxationLimits,
    center: Float64Array | undefined,
  ) {
    this.basis = basis;
    this.finder = finder;
    this.options = options;
    this.limits = limits;
    this.center = center;
  }

  /** Brings patterns in that are worth more than they cost until none is found. */
  run(): void {
    const { options } = this;
    const { pivotsMax, stepsMax, nodePrice } = this.limits;
    const most = Math.min(stepsMax, PRICING_STEPS_MAX);
    let near: readonly LaunchOption[] = options;
    while (this.pivots < pivotsMax && this.finder.steps < most) {
      const values = this.values();
      this.finder.setValues(values);
      const isAll = near === options;
      const priced = price(this.finder, near, nodePrice);
      const gainMost = priced[0]?.gain ?? 0;
      if (isAll) this.steady(values, gainMost);
      const entered = this.enter(priced);
      if (isAll && entered === 0) {
        if (this.steadiness === 0) return;
        this.steadiness = 0;
      } else if (isAll) {
        const isNear = ({ gain }: Priced) => gain > NEAR_GAIN * gainMost;
        near = priced.filter(isNear).map(({ pattern }) => pattern.option);
      } else if (entered === 0) near = options;
    }
  }

  private values(): Float64Array {
    const { center, steadiness } = this;
    return this.basis.duals.map(
      (dual, row) =>
        steadiness * (center === undefined ? 0 : (center[row] ?? missing(row))) +
        (1 - steadiness) * Math.max(0, dual),
    );
  }

  /**
   * Values are kept when, scaled so that no pattern is worth more than it costs, they sum to more.
   */
  private steady(values: Float64Array, gainMost: number): void {
    if (gainMost <= 0) return;
    const { demand } = this.finder;
    const bound =
      values.reduce((sum, value, row) => sum + value * (demand[row] ?? missing(row)), 0) / gainMost;
    if (bound <= this.bound) return;
    this.bound = bound;
    this.center = values.map((value) => value / gainMost);
  }

  private enter(priced: readonly Priced[]): number {
    let entered = 0;
    for (const { pattern } of priced.slice(0, SHORTLIST)) {
      const cost = pattern.option.price + this.limits.nodePrice;
      const worth = worthOf(pattern, this.basis.duals);
      if (worth <= LEAST_GAIN * cost || pivot(this.basis, pattern, worth - cost) < 0) continue;
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
  for (const [index, shape] of pattern.shapes.entries()) {
    value += (duals[shape] ?? missing(shape)) * (pattern.amounts[index] ?? missing(index));
  }
  return value;
}

/** The best pattern of each launch option, those most worth their cost first. */
function price(
  finder: FractionalFiller,
  options: readonly LaunchOption[],
  nodePrice: number,
): readonly Priced[] {
  const found: Priced[] = [];
  for (const option of options) {
    const pattern = finder.best(option);
    if (pattern === undefined) continue;
    found.push({ pattern, gain: pattern.value / (option.price + nodePrice + 1e-12) });
  }
  return found.sort((a, b) => b.gain - a.gain);
}
