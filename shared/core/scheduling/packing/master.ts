import { missing } from '../../missing.ts';
import { type Basis, pivot, startBasis } from './basis.ts';
import type { Pattern } from './pattern.ts';

/** A pattern must be worth this much more than it costs; a row this much less than nothing. */
const LEAST_GAIN = 1e-7;

/** Patterns brought into the basis for one solution at most, by rows. */
const PIVOTS_MAX = 8;

/** So many numbers of the basis take a pivot as long as a search takes for one pattern. */
const PIVOT_SHARE = 8;

/**
 * For one solution at most. A pivot takes as many as an eighth of the square of the rows, so that
 * 1,000 shapes would take 1e9.
 */
const STEPS_MAX = 4_000_000;

/** A pattern, and how many nodes of it the programme launches. */
interface Use {
  readonly pattern: Pattern;
  readonly nodes: number;
}

function textOf({ option, shapes, amounts }: Pattern): string {
  return `${option.group.id}|${option.price}|${option.free.join()}|${shapes.join()}|${amounts.join()}`;
}

/**
 * The restricted master problem of column generation: of the patterns that are known, how many
 * nodes of each cost least, where nodes may be launched in parts.
 */
export class Master {
  private readonly basis: Basis;
  /** By row: the basic pattern; undefined: more pods have a place than there are. */
  private readonly basic: (Pattern | undefined)[];
  private readonly nodePrice: number;
  /** Work done: numbers looked at, as far as they count beside searches. */
  steps = 0;
  private readonly patterns: Pattern[] = [];
  private readonly known = new Set<string>();

  /** `starts` are patterns of one shape only, one for each shape. */
  constructor(demand: Float64Array, starts: readonly Pattern[], nodePrice: number) {
    this.basis = startBasis(demand, starts, nodePrice);
    this.basic = [...starts];
    this.nodePrice = nodePrice;
  }

  /** What one pod of each shape is worth by the last solution. */
  values(): Float64Array {
    return this.basis.duals.map((dual) => Math.max(0, dual));
  }

  /** USD an hour of one node. */
  costOf({ option }: Pattern): number {
    return option.price + this.nodePrice + 1e-12;
  }

  /** False where the pattern is known already. */
  add(pattern: Pattern): boolean {
    const text = textOf(pattern);
    if (this.known.has(text)) return false;
    this.known.add(text);
    this.patterns.push(pattern);
    return true;
  }

  /** All patterns but those of the start. */
  get added(): readonly Pattern[] {
    return this.patterns;
  }

  /** With many rows it may end before the optimum: each solution covers all pods. */
  solve(): void {
    const most = PIVOTS_MAX * this.basis.size;
    const until = this.steps + STEPS_MAX;
    for (let pivots = 0; pivots < most && this.steps < until && this.enter(); pivots++);
  }

  /** USD an hour of the last solution. */
  get cost(): number {
    return this.uses().reduce((sum, { pattern, nodes }) => sum + nodes * this.costOf(pattern), 0);
  }

  uses(): readonly Use[] {
    return this.basic.flatMap((pattern, row) =>
      pattern === undefined ? [] : [{ pattern, nodes: this.basis.use[row] ?? missing(row) }],
    );
  }

  /** Brings in the pattern that is worth most for its cost; false: none improves the solution. */
  private enter(): boolean {
    const { duals } = this.basis;
    let best: Pattern | undefined;
    let most = LEAST_GAIN;
    for (const pattern of this.patterns) {
      const gain = this.worth(pattern) / this.costOf(pattern) - 1;
      if (gain <= most) continue;
      most = gain;
      best = pattern;
    }
    if (best !== undefined) return this.replace(best, this.worth(best) - this.costOf(best), best);
    const surplus = duals.findIndex((each) => each < -LEAST_GAIN);
    const [first] = this.patterns;
    if (surplus < 0 || first === undefined) return false;
    const fewer = { ...first, shapes: [surplus], amounts: [-1] };
    return this.replace(fewer, -(duals[surplus] ?? missing(surplus)), undefined);
  }

  private replace(column: Pattern, gain: number, pattern: Pattern | undefined): boolean {
    const row = pivot(this.basis, column, gain);
    this.steps += this.patterns.length + this.basis.size ** 2 / PIVOT_SHARE;
    if (row >= 0) this.basic[row] = pattern;
    return row >= 0;
  }

  private worth({ shapes, amounts }: Pattern): number {
    const { duals } = this.basis;
    let worth = 0;
    for (let at = 0; at < shapes.length; at++) {
      const shape = shapes[at] ?? missing(at);
      worth += (duals[shape] ?? missing(shape)) * (amounts[at] ?? missing(at));
    }
    return worth;
  }
}
