import type { LaunchOption } from '../problem/launch-options.ts';
import type { Master } from './master.ts';
import type { Pattern, PodShape } from './pattern.ts';
import { PatternFinder } from './pattern-finder.ts';

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

/** A launch option's search in a round of pricing. */
const SEARCH_STEPS = 3000;

/** Of the steps, where long searches come after short ones. */
const SHORT_SHARE = 0.1;

/** Patterns brought in before the programme is solved anew: at first, and by long searches. */
const SHORTLIST = 8;
const LONG_SHORTLIST = 20;

/** A search that did not end is made so many times longer. */
const LONGER = 4;

/** Patterns of one long search that are brought in: each was the best so far. */
const KEPT = 8;

/** Patterns looked at for one launch option at a time, once short searches find no more. */
export interface LongSearch {
  readonly first: number;
  /** Where all of them find nothing, and not all end. */
  readonly longest: number;
}

/** A new pattern must be worth this much more than it costs. */
const LEAST_GAIN = 1.0005;

/** Launch options that are searched: those whose last patterns were worth most for their cost. */
const SEARCHED_OPTIONS = 8;

interface Priced {
  readonly pattern: Pattern;
  /** What it is worth for its cost. */
  readonly gain: number;
}

/** Looks for patterns that are worth more than they cost by the values of the master problem. */
export class Pricing {
  private readonly demand: Demand;
  private readonly master: Master;
  private readonly finder: PatternFinder;

  /** Tight searches take longer each, and end more often. */
  constructor(demand: Demand, master: Master, isTight: boolean) {
    this.demand = demand;
    this.master = master;
    const { shapes, main, values, left } = demand;
    this.finder = new PatternFinder(shapes, main, values, left, isTight);
  }

  /** Of the searches and of the programme. */
  get steps(): number {
    return this.finder.steps + this.master.steps;
  }

  /**
   * All launch options are filled greedily; the best are searched, as long as that finds something.
   * Then all that may have a better pattern are searched for longer, if at all.
   */
  run(stepsMax: number, long?: LongSearch): void {
    const { options } = this.demand;
    let near = options;
    const shortMax = long === undefined ? stepsMax : SHORT_SHARE * stepsMax;
    for (let failed = 0; failed < 2 && this.steps < shortMax; ) {
      this.finder.setValues(this.master.values());
      const isAll = near === options;
      const priced = this.price(near, isAll);
      const entered = this.enter(priced, SHORTLIST);
      failed = entered === 0 ? failed + 1 : 0;
      const best = new Set(priced.map(({ pattern }) => pattern.option));
      near = entered === 0 && !isAll ? options : [...best].slice(0, SEARCHED_OPTIONS);
    }
    if (long !== undefined) this.searchLong(stepsMax, long);
  }

  /**
   * Where a search found something the next may, too: all are searched when none of them does, and
   * for longer when all find nothing but did not end.
   */
  private searchLong(stepsMax: number, { first, longest }: LongSearch): void {
    const { options } = this.demand;
    let most = first;
    for (let near = options; this.steps < stepsMax; ) {
      this.finder.setValues(this.master.values());
      const before = this.finder.unended;
      const priced = this.priceLong(near, stepsMax, most);
      const entered = this.enter(priced, LONG_SHORTLIST);
      if (entered === 0 && near === options) {
        most *= LONGER;
        if (this.finder.unended === before || most > longest) break;
      }
      near = entered === 0 ? options : [...new Set(priced.map(({ pattern }) => pattern.option))];
    }
  }

  /** The patterns of launch options, those most worth their cost first. */
  private price(options: readonly LaunchOption[], isGreedy: boolean): readonly Priced[] {
    const patternsOf = (option: LaunchOption) =>
      isGreedy
        ? [this.finder.best(option)]
        : [this.finder.search(option, SEARCH_STEPS), this.finder.begunWithEach(option)];
    return this.ranked(options.flatMap(patternsOf));
  }

  /**
   * Patterns of launch options that can have one worth more than it costs: the searches leave out
   * what is worth less.
   */
  private priceLong(
    options: readonly LaunchOption[],
    stepsMax: number,
    longSteps: number,
  ): readonly Priced[] {
    const { nodePrice } = this.demand;
    const found: (Pattern | undefined)[] = [];
    for (const option of options) {
      if (this.steps >= stepsMax) break;
      const above = LEAST_GAIN * (option.price + nodePrice);
      if (this.finder.ceiling(option) <= above) continue;
      found.push(...this.finder.searchAbove(option, longSteps, above, KEPT));
    }
    return this.ranked(found).filter(({ gain }) => gain > LEAST_GAIN);
  }

  private ranked(patterns: readonly (Pattern | undefined)[]): readonly Priced[] {
    return patterns
      .filter((pattern) => pattern !== undefined)
      .map((pattern) => ({ pattern, gain: pattern.value / this.master.costOf(pattern) }))
      .sort((a, b) => b.gain - a.gain);
  }

  /** Brings the best in; how many are new. */
  private enter(priced: readonly Priced[], most: number): number {
    const worthIt = priced.slice(0, most).filter(({ gain }) => gain > LEAST_GAIN);
    const entered = worthIt.filter(({ pattern }) => this.master.add(pattern)).length;
    if (entered > 0) this.master.solve();
    return entered;
  }
}
