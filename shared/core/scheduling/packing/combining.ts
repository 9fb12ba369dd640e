import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { cheapestAlone } from './duals.ts';
import { Master } from './master.ts';
import type { Pattern, PodShape } from './pattern.ts';
import { PatternFinder } from './pattern-finder.ts';
import { copiesOf, PatternQueue, type SearchEffort } from './pattern-queue.ts';

/** What there is to pack. */
export interface Demand {
  readonly shapes: readonly PodShape[];
  /** Pods by shape. */
  readonly left: Float64Array;
  readonly options: readonly LaunchOption[];
  readonly main: readonly number[];
  /** What one pod of each shape is worth in the relaxed problem, USD an hour. */
  readonly values: Float64Array;
  readonly nodePrice: number;
}

/** How long it is looked for patterns that are to be combined. */
export interface Combining {
  /** Of the search in a packing of few pods of the same shapes; undefined: there is none. */
  readonly rehearsal?: SearchEffort;
  /** Patterns looked at, at most, while those are searched for that improve the combination. */
  readonly stepsMax: number;
  /** Parts of nodes from this share on are launched as whole ones: 1 launches none of them. */
  readonly roundedFrom: number;
}

/** Pods of a rehearsal: the mix of many more is the same, and a longer search finds no more. */
const REHEARSED = 8000;

/** A launch option's search in a round of pricing. */
const SEARCH_STEPS = 3000;

/** Patterns brought in before the programme is solved anew. */
const SHORTLIST = 8;

/** A new pattern must be worth this much more than it costs. */
const LEAST_GAIN = 1.0005;

/** Launch options that are searched: those whose last patterns were worth most for their cost. */
const SEARCHED_OPTIONS = 8;

/** Nodes of the patterns, so many of each. */
export interface Multiple {
  readonly pattern: Pattern;
  readonly copies: number;
}

/** A solution that needs 3 nodes says 2.9999999 at times. */
const ROUNDING = 1e-6;

/** The patterns that a packing without nodes launches for a part of the pods. */
function rehearsed(demand: Demand, effort: SearchEffort): readonly Pattern[] {
  const { shapes, options, main, values, nodePrice } = demand;
  const all = demand.left.reduce((sum, each) => sum + each, 0);
  const share = Math.min(1, REHEARSED / all);
  const left = demand.left.map((each) => Math.ceil(each * share));
  const found: Pattern[] = [];
  const launch = (pattern: Pattern): number => {
    const copies = copiesOf(pattern, left);
    for (const [at, shape] of pattern.shapes.entries()) {
      left[shape] = (left[shape] ?? missing(shape)) - copies * (pattern.amounts[at] ?? missing(at));
    }
    found.push(pattern);
    return copies;
  };
  const finder = new PatternFinder(shapes, main, values);
  const queue = new PatternQueue(finder, options, left, nodePrice, effort);
  queue.run({ mayLaunch: () => true, launch, revalues: () => false });
  return found;
}

/** Looks for patterns that are worth more than they cost by the values of the master problem. */
class Pricing {
  private readonly demand: Demand;
  private readonly master: Master;
  private readonly finder: PatternFinder;

  constructor(demand: Demand, master: Master) {
    this.demand = demand;
    this.master = master;
    this.finder = new PatternFinder(demand.shapes, demand.main, demand.values);
  }

  /**
   * All launch options are filled greedily; the best are searched, as long as that finds something.
   */
  run(stepsMax: number): void {
    const { options } = this.demand;
    let near = options;
    for (let failed = 0; failed < 2 && this.finder.steps + this.master.steps < stepsMax; ) {
      this.finder.setValues(this.master.values());
      const isAll = near === options;
      const priced = this.price(near, isAll);
      const entered = this.enter(priced);
      failed = entered === 0 ? failed + 1 : 0;
      if (entered > 0) this.master.solve();
      const best = new Set(priced.map(({ pattern }) => pattern.option));
      near = entered === 0 && !isAll ? options : [...best].slice(0, SEARCHED_OPTIONS);
    }
  }

  /** The patterns of launch options, those most worth their cost first. */
  private price(options: readonly LaunchOption[], isGreedy: boolean) {
    const { left } = this.demand;
    const patternsOf = (option: LaunchOption) =>
      isGreedy
        ? [this.finder.best(option, left)]
        : [this.finder.search(option, left, SEARCH_STEPS), this.finder.begunWithEach(option, left)];
    return options
      .flatMap(patternsOf)
      .filter((pattern) => pattern !== undefined)
      .map((pattern) => ({ pattern, gain: pattern.value / this.master.costOf(pattern) }))
      .sort((a, b) => b.gain - a.gain);
  }

  private enter(priced: ReturnType<Pricing['price']>): number {
    const worthIt = priced.slice(0, SHORTLIST).filter(({ gain }) => gain > LEAST_GAIN);
    return worthIt.filter(({ pattern }) => this.master.add(pattern)).length;
  }
}

/**
 * Whole nodes of the cheapest combination of patterns, those of `known` packings and others that
 * improve it (Gilmore and Gomory 1961): many pods of few shapes are multiples of few nodes. What a
 * combination needs parts of nodes for is left to be packed.
 */
export function combined(
  demand: Demand,
  known: readonly Pattern[],
  { rehearsal, stepsMax, roundedFrom }: Combining,
): readonly Multiple[] {
  const { shapes, left, options, nodePrice } = demand;
  const [first] = options;
  if (first === undefined) return [];
  const amounts = left.slice();
  const starts = shapes.map((shape): Pattern => {
    const amount = left[shape.id] ?? missing(shape.id);
    const alone = amount > 0 ? cheapestAlone(shape, options, amount, nodePrice) : undefined;
    if (alone === undefined) amounts[shape.id] = 0;
    return alone ?? { option: first, shapes: [shape.id], amounts: [1], value: 0 };
  });
  const master = new Master(amounts, starts, nodePrice);
  for (const pattern of known) master.add(pattern);
  if (rehearsal !== undefined) {
    for (const pattern of rehearsed(demand, rehearsal)) master.add(pattern);
  }
  master.solve();
  new Pricing({ ...demand, left: amounts }, master).run(stepsMax);
  return master
    .uses()
    .map(({ pattern, nodes }) => ({
      pattern,
      copies: Math.floor(nodes + 1 - roundedFrom + ROUNDING),
    }))
    .filter(({ copies }) => copies > 0);
}
