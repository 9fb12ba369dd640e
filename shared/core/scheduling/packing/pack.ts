import { missing } from '../../missing.ts';
import type { CombiningBudget } from '../effort.ts';
import type { PodBatch } from '../placing/assign.ts';
import type { PlanSteps } from '../plan-steps.ts';
import { daemonPortsOn } from '../problem/host-ports.ts';
import { compareOptions, type LaunchGroup, type LaunchOption } from '../problem/launch-options.ts';
import { addToHost, emptyHost, hostAllows } from '../search/host.ts';
import { insistsOnMinValues, ReservedOptions } from '../search/min-values.ts';
import { type Bin, type SearchState, zeros } from '../search/search-state.ts';
import { type Combining, combined, combiningsFor } from './combining.ts';
import { DotProductFiller } from './dot-product.ts';
import { linearValues } from './linear-values.ts';
import { mainResources } from './main-resources.ts';
import { independentParts } from './parts.ts';
import { howMany, type Pattern, type PodShape } from './pattern.ts';
import { PatternFinder } from './pattern-finder.ts';
import { copiesOf, PatternQueue, type SearchEffort } from './pattern-queue.ts';
import { countByShape, type ShapePods, shapePodsOf, shapeTextOf } from './pod-shapes.ts';
import { type Found, podValues, type Relaxations } from './pod-values.ts';

function leftOf(shapePods: readonly ShapePods[]): Float64Array {
  return Float64Array.from(shapePods, ({ batches }) =>
    batches.reduce((sum, batch) => sum + batch.count, 0),
  );
}

/** Launch options, each no worse than the others in its group. */
function optionsOf(groups: readonly LaunchGroup[]): readonly LaunchOption[] {
  return groups.flatMap((group) => group.paretoFront).sort(compareOptions);
}

/** A way to pack. */
export interface PackingWay extends SearchEffort {
  /** Whether what pods are worth is worked out anew on the way. */
  readonly revalues: boolean;
  /** Undefined: patterns are not combined before others are searched for what is left. */
  readonly combining?: Combining;
  /**
   * Where limits of NodePools do not let all pods be placed: as many as can be, instead of those
   * that are worth most for what nodes cost. A node costs its share of the limits then, and a USD
   * an hour as much of a share as this.
   */
  readonly counts?: number | undefined;
  /** Nodes are filled by dot products first, where pods are worth what resources are. */
  readonly dotProduct?: boolean;
  /** Pods whose shape no other pod has are packed after all others, whose patterns are combined. */
  readonly singlesLast?: CombiningBudget | undefined;
}

/** Values are worked out anew when what is left is worth less than this share of what was. */
const REVALUED_AT = 0.5;

/** Not for the last few pods: as a share of what all were worth. */
const REVALUED_LEAST = 0.05;

/** The way with a share of its steps. */
function withShare(way: PackingWay, share: number): PackingWay {
  const { combining, searchedMax } = way;
  if (combining === undefined) return { ...way, searchedMax: searchedMax * share };
  const { stepsMax, dives } = combining;
  const shared = { ...combining, stepsMax: stepsMax * share };
  return {
    ...way,
    searchedMax: searchedMax * share,
    combining: dives === undefined ? shared : { ...shared, dives: dives * share },
  };
}

/** What all attempts at one plan share. */
export interface PlanSearch {
  readonly relaxations: Relaxations;
  readonly steps: PlanSteps;
}

/** Packs the shapes of one part of a tier into new bins. */
class Packer {
  private readonly state: SearchState;
  private readonly shapePods: readonly ShapePods[];
  private readonly shapes: readonly PodShape[];
  private readonly options: readonly LaunchOption[];
  private readonly left: Float64Array;
  private readonly search: PlanSearch;
  /** By now and by other attempts. */
  private readonly found: Found;
  private readonly finder: PatternFinder;
  private readonly nodePrice: number;
  /** As the way has it; then one pod counts as much as another. */
  private readonly counts: number | undefined;
  private readonly main: readonly number[];
  private values: Float64Array;
  /** What all its pods are worth, USD an hour. */
  readonly worth: number;
  /** What is left may be worth so much before values are worked out anew. */
  private revaluedBelow: number;
  /** Steps of the last relaxed problem. */
  private relaxed = 0;

  constructor(
    state: SearchState,
    shapePods: readonly ShapePods[],
    options: readonly LaunchOption[],
    search: PlanSearch,
    { counts, dotProduct }: Pick<PackingWay, 'counts' | 'dotProduct'>,
  ) {
    this.search = search;
    const { budgets } = state.context;
    const isLimited = options.every(({ pool }) => budgets.remaining(pool.pool.name));
    this.counts = isLimited ? counts : undefined;
    this.state = state;
    this.shapePods = shapePods;
    this.options = options;
    this.left = leftOf(shapePods);
    const { problem } = state.context;
    this.nodePrice = problem.settings.nodePrice;
    const shapes = shapePods.map(({ shape }) => shape);
    this.shapes = shapes;
    this.found = search.relaxations.foundFor(shapes, this.left, options);
    this.main = mainResources(shapes, problem.resources, this.left, options);
    this.values = (dotProduct === true ? this.linearValues() : undefined) ?? this.podValues();
    this.finder = new PatternFinder(shapes, this.main, this.values, this.left, false);
    this.worth = this.worthOfLeft();
    this.revaluedBelow = REVALUED_AT * this.worth;
  }

  private podValues(): Float64Array {
    const { nodePrice, left, options, main } = this;
    if (this.counts !== undefined) return new Float64Array(left.length).fill(1);
    const { relaxations, steps } = this.search;
    const { stepsMax } = this.state.context.problem.settings;
    const limits = { nodePrice, pivotsMax: 800, stepsMax };
    // Pieces are weighed by two resources.
    const before = relaxations.steps;
    const found = podValues(relaxations, this.shapes, left, options, main.slice(0, 2), limits);
    // What is known of other attempts takes none.
    steps.take(relaxations.steps - before);
    this.relaxed = found.steps;
    return found.values;
  }

  private linearValues(): Float64Array | undefined {
    const { shapes, left, options, main, nodePrice } = this;
    if (this.counts !== undefined) return undefined;
    return linearValues(shapes, left, options, main, nodePrice);
  }

  private worthOfLeft(): number {
    return this.values.reduce((sum, value, id) => sum + value * (this.left[id] ?? missing(id)), 0);
  }

  /**
   * Opens the bins of the combination, where patterns are combined, and then those that are worth
   * most for their price, until nothing more can be placed.
   */
  run(way: PackingWay): void {
    const { budgets, bins } = this.state;
    const { steps } = this.search;
    const before = bins.length;
    if (way.dotProduct === true) this.fillByDotProduct(steps.allowance(Number.POSITIVE_INFINITY));
    this.combine(way);
    const { searchSteps } = way;
    const effort = { searchSteps, searchedMax: steps.allowance(way.searchedMax) };
    const costOf = (option: LaunchOption) => this.costOf(option);
    const queue = new PatternQueue(this.finder, this.options, this.left, costOf, effort);
    queue.run({
      mayLaunch: (option) => budgets.allowance(option, 1) > 0,
      launch: (pattern) => this.launch(pattern, copiesOf(pattern, this.left)),
      revalues: () => way.revalues && this.revalues(),
    });
    steps.take(this.finder.steps);
    if (this.left.some((each) => each > 0)) return;
    const cost = bins
      .slice(before)
      .reduce((sum, { chosen }) => sum + chosen.price + this.nodePrice, 0);
    this.found.least = Math.min(this.found.least, cost);
  }

  /** Opens a bin of what is worth most for its price, again and again, within so many steps. */
  private fillByDotProduct(stepsMax: number): void {
    const { shapes, options, left, main, nodePrice } = this;
    const { budgets } = this.state;
    const filler = new DotProductFiller(shapes, main, left, options, nodePrice);
    const mayLaunch = (option: LaunchOption) => budgets.allowance(option, 1) > 0;
    while (filler.steps < stepsMax && left.some((each) => each > 0)) {
      const found = filler.best(mayLaunch);
      if (found === undefined || this.launch(found, copiesOf(found, left)) === 0) break;
      filler.placed(found.shapes);
    }
    this.search.steps.take(filler.steps);
  }

  private costOf(option: LaunchOption): number {
    const price = option.price + this.nodePrice;
    if (this.counts === undefined) return price;
    return this.state.context.budgets.share(option) + this.counts * price;
  }

  private combine({ combining }: PackingWay): void {
    const { shapes, main, nodePrice, options, left, values } = this;
    const { steps } = this.search;
    if (combining === undefined) return;
    const demand = { shapes, left, options, main, values, nodePrice };
    for (const { pattern, copies } of combined(demand, this.found, combining, steps)) {
      this.launch(pattern, copies);
    }
  }

  /**
   * What is left differs from what there was: its values may, too. Says whether they were renewed.
   */
  private revalues(): boolean {
    const worth = this.worthOfLeft();
    if (worth >= this.revaluedBelow || worth < REVALUED_LEAST * this.worth) return false;
    // Of the last relaxed problem about half is left.
    if (this.search.steps.left < this.relaxed * REVALUED_AT) return false;
    this.values = this.podValues();
    this.finder.setValues(this.values);
    this.revaluedBelow = REVALUED_AT * this.worthOfLeft();
    return true;
  }

  /** Opens up to so many bins of the pattern; returns how many pods went in. */
  private launch(pattern: Pattern, most: number): number {
    const copies = this.state.budgets.allowance(pattern.option, Math.max(1, most));
    this.found.patterns.push(pattern);
    let placed = 0;
    for (let copy = 0; copy < copies; copy++) {
      const added = this.realize(pattern);
      placed += added;
      if (added === 0) break;
    }
    return placed;
  }

  private realize(pattern: Pattern): number {
    const { state } = this;
    const { option } = pattern;
    const { problem } = state.context;
    const bin: Bin = {
      options: [option],
      chosen: option,
      reserved: option,
      used: zeros(problem.resources.length),
      host: emptyHost(daemonPortsOn(problem, option)),
      content: new Map(),
    };
    let placed = 0;
    let isShort = false;
    for (const [index, shape] of pattern.shapes.entries()) {
      const wanted = pattern.amounts[index] ?? missing(index);
      const drawn = this.draw(bin, this.shapePods[shape] ?? missing(shape), wanted);
      placed += drawn;
      isShort ||= drawn < wanted;
    }
    if (placed === 0) return 0;
    if (isShort) placed += this.topUp(bin);
    state.budgets.take(option, 1);
    state.reserved(bin);
    state.bins.push(bin);
    return placed;
  }

  /** Pods that keep apart left room in the bin: others take it. */
  private topUp(bin: Bin): number {
    const free = bin.chosen.free.map((amount, r) => amount - (bin.used[r] ?? missing(r)));
    let placed = 0;
    for (const index of this.finder.order(bin.chosen)) {
      const shapePods = this.shapePods[index] ?? missing(index);
      const left = this.left[index] ?? missing(index);
      if (left <= 0 || shapePods.shape.allowed[bin.chosen.group.id] !== 1) continue;
      const drawn = this.draw(bin, shapePods, howMany(shapePods.shape, free, left));
      for (let r = 0; r < free.length; r++) {
        free[r] = (free[r] ?? missing(r)) - drawn * (shapePods.shape.requests[r] ?? missing(r));
      }
      placed += drawn;
    }
    return placed;
  }

  /** Puts up to `wanted` pods of the shape in the bin, as host rules and minValues allow. */
  private draw(bin: Bin, shapePods: ShapePods, wanted: number): number {
    let drawn = 0;
    const { batches, shape } = shapePods;
    for (let looked = 0; looked < batches.length && drawn < wanted; looked++) {
      const batch =
        batches[(shapePods.next + looked) % batches.length] ??
        missing((shapePods.next + looked) % batches.length);
      while (batch.count > 0 && drawn < wanted) {
        const amount = batch.resolved.host.isFree ? Math.min(batch.count, wanted - drawn) : 1;
        if (!this.mayJoin(bin, batch, amount)) break;
        put(this.state, batch, bin, amount);
        drawn += amount;
        this.left[shape.id] = (this.left[shape.id] ?? missing(shape.id)) - amount;
      }
    }
    shapePods.next = (shapePods.next + 1) % batches.length;
    return drawn;
  }

  private mayJoin(bin: Bin, { resolved }: PodBatch, amount: number): boolean {
    const { context, budgets } = this.state;
    if (!hostAllows(resolved.host, bin.host, this.state.totals)) return false;
    if (!insistsOnMinValues(context.problem, bin.chosen.pool.pool)) return true;
    const used = bin.used.map(
      (each, r) => each + amount * (resolved.podClass.requests[r] ?? missing(r)),
    );
    const present = [...bin.content.keys()].flatMap(
      (each) => context.resolvedClasses[each.id] ?? missing(each.id),
    );
    return (
      new ReservedOptions(context, budgets, [...present, resolved], used).of(bin.chosen) !==
      undefined
    );
  }
}

/** Pods that were counted in their domain before are put in a bin. */
function put(state: SearchState, batch: PodBatch, bin: Bin, amount: number): void {
  const { podClass, host } = batch.resolved;
  for (let r = 0; r < bin.used.length; r++) {
    bin.used[r] = (bin.used[r] ?? missing(r)) + (podClass.requests[r] ?? missing(r)) * amount;
  }
  addToHost(host, bin.host, state.totals, amount);
  bin.content.set(podClass, (bin.content.get(podClass) ?? 0) + amount);
  batch.count -= amount;
}

/** Pods that are packed together, before those that follow. */
interface Stage {
  readonly among: readonly PodBatch[];
  /** `worth`: USD an hour that new nodes for all its pods cost at the least. */
  readonly wayFor: (worth: number) => PackingWay;
}

function stagesOf(batches: readonly PodBatch[], way: PackingWay): readonly Stage[] {
  const { singlesLast, combining: _, ...plain } = way;
  if (singlesLast === undefined) return [{ among: batches, wayFor: () => way }];
  const counts = countByShape(
    batches.map(({ resolved: { podClass }, count }) => ({ podClass, count })),
  );
  const isSingle = ({ resolved: { podClass } }: PodBatch): boolean =>
    (counts.get(shapeTextOf(podClass)) ?? 0) <= 1;
  const combining = (worth: number): PackingWay => {
    if (way.combining !== undefined) return way;
    const [first] = combiningsFor(singlesLast, worth);
    return first === undefined ? way : { ...way, combining: first };
  };
  return [
    { among: batches.filter((each) => !isSingle(each)), wayFor: combining },
    { among: batches.filter(isSingle), wayFor: () => plain },
  ];
}

/** Packs batches into the pools' new nodes, heaviest first. */
export function packBatches(
  state: SearchState,
  batches: readonly PodBatch[],
  way: PackingWay,
  search: PlanSearch,
): void {
  const { problem, weights } = state.context;
  for (const weight of weights) {
    const groups = problem.groups.filter((group) => group.pool.pool.weight === weight);
    for (const { among, wayFor } of stagesOf(batches, way)) {
      const mine = among.filter(({ count }) => count > 0);
      const packers = independentParts(mine, groups).map((part) => {
        const shapePods = shapePodsOf(part.batches);
        return new Packer(state, shapePods, optionsOf(part.groups), search, way);
      });
      const worth = packers.reduce((sum, each) => sum + each.worth, 0);
      const by = wayFor(worth);
      for (const each of packers) {
        each.run(packers.length === 1 || worth === 0 ? by : withShare(by, each.worth / worth));
      }
    }
  }
  for (const batch of batches) {
    if (batch.count > 0) {
      const { podClass } = batch.resolved;
      state.left.set(podClass, state.leftOf(podClass) + batch.count);
    }
  }
}
