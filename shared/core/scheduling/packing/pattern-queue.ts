import { missing } from '../../missing.ts';
import { compareOptions, type LaunchOption } from '../problem/launch-options.ts';
import type { Pattern } from './pattern.ts';
import type { PatternFinder } from './pattern-finder.ts';

/** How long patterns are searched for. */
export interface SearchEffort {
  /** Patterns looked at for one launch option at most. */
  readonly searchSteps: number;
  /**
   * Patterns looked at for all launch options together; what is left is shared so that late
   * searches are short.
   */
  readonly searchedMax: number;
}

/** What is left to a packing is shared among so many searches to come. */
const SEARCHES_AHEAD = 64;

/** Takes the patterns that a queue finds best. */
interface Taker {
  /** Whether another node of the launch option may be launched. */
  readonly mayLaunch: (option: LaunchOption) => boolean;
  /** Takes the pattern as often as there are pods for it; returns how many pods it took. */
  readonly launch: (pattern: Pattern) => number;
  /** Whether values are others since the last launch. */
  readonly revalues: () => boolean;
}

/** A launch option, and the price for value of the best pattern known for it. */
interface QueuedOption {
  readonly option: LaunchOption;
  readonly score: number;
  /** The round in which it was looked at. */
  readonly round: number;
  readonly pattern: Pattern | undefined;
}

function compareEntries(a: QueuedOption, b: QueuedOption): number {
  return a.score - b.score || compareOptions(a.option, b.option);
}

function insert(queue: QueuedOption[], entry: QueuedOption): void {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareEntries(queue[middle] ?? missing(middle), entry) < 0) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, entry);
}

/** How often there are pods for the whole pattern. */
export function copiesOf({ shapes, amounts }: Pattern, left: Float64Array): number {
  let copies = Number.POSITIVE_INFINITY;
  for (let at = 0; at < shapes.length && copies > 0; at++) {
    const available = left[shapes[at] ?? missing(at)] ?? missing(at);
    copies = Math.min(copies, Math.floor(available / (amounts[at] ?? missing(at))));
  }
  return copies;
}

/** Finds the patterns that are worth most for their price, one after the other. */
export class PatternQueue {
  private readonly finder: PatternFinder;
  private readonly options: readonly LaunchOption[];
  /** Pods left, by shape: whoever takes patterns takes their pods off. */
  private readonly left: Float64Array;
  /** What a node costs, with what is added to its price. */
  private readonly costOf: (option: LaunchOption) => number;
  private readonly effort: SearchEffort;

  constructor(
    finder: PatternFinder,
    options: readonly LaunchOption[],
    left: Float64Array,
    costOf: (option: LaunchOption) => number,
    effort: SearchEffort,
  ) {
    this.finder = finder;
    this.options = options;
    this.left = left;
    this.costOf = costOf;
    this.effort = effort;
  }

  /**
   * Launches patterns until nothing more can be placed. Less is left each round, so a launch
   * option's score can only get worse: the first whose score is up to date is the best.
   */
  run({ mayLaunch, launch, revalues }: Taker): void {
    let queue = this.queueOf(this.options.filter(mayLaunch));
    for (let round = 0; ; ) {
      const entry = queue.shift();
      if (entry === undefined) break;
      if (entry.round !== round && !this.isLeft(entry.pattern)) {
        const pattern = this.finder.search(entry.option, this.searchSteps());
        if (pattern !== undefined) insert(queue, this.scored(entry.option, pattern, round));
        continue;
      }
      const placed = entry.pattern === undefined ? 0 : launch(entry.pattern);
      if (placed === 0 || !mayLaunch(entry.option)) continue;
      insert(queue, entry);
      round++;
      if (revalues()) queue = this.queueOf(queue.map(({ option }) => option));
    }
  }

  private queueOf(options: readonly LaunchOption[]): QueuedOption[] {
    return options
      .map((option) => ({ option, score: this.leastScore(option), round: -1, pattern: undefined }))
      .sort(compareEntries);
  }

  /**
   * Whether there are still pods for the whole pattern: then it is still the launch option's best.
   */
  private isLeft(pattern: Pattern | undefined): boolean {
    return pattern !== undefined && copiesOf(pattern, this.left) >= 1;
  }

  private searchSteps(): number {
    const { searchSteps, searchedMax } = this.effort;
    const left = Math.max(0, searchedMax - this.finder.searched);
    return Math.min(searchSteps, Math.floor(left / SEARCHES_AHEAD));
  }

  private scored(option: LaunchOption, pattern: Pattern, round: number): QueuedOption {
    const score = this.costOf(option) / Math.max(pattern.value, 1e-12);
    return { option, score, round, pattern };
  }

  /** The best price for value that the launch option could have. */
  private leastScore(option: LaunchOption): number {
    const most = this.finder.ceiling(option);
    return this.costOf(option) / Math.max(most, 1e-12);
  }
}
