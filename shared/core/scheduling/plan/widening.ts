import { missing } from '../../missing.ts';
import { amountOf } from '../../model/resources.ts';
import { asLarge, minValuesOf } from '../search/min-values.ts';
import { type Bin, resolvedIn, type SearchState } from '../search/search-state.ts';
import { canHold, limitedBy } from '../search/type-options.ts';
import { truncate } from './flexibility.ts';

/** By limited resource, in the order of their names: how much of it a claim may come to. */
type Amounts = readonly number[];

/** A claim of a limited pool while the rest of the limits is shared out. */
interface Share {
  readonly bin: Bin;
  /** What its further types take, those first that ask for least of the rest. */
  readonly targets: readonly Amounts[];
  readonly level: number[];
}

/** The pool's limits as claims of this plan share them. */
class LimitedPool {
  private readonly state: SearchState;
  private readonly names: readonly string[];
  private readonly rest: number[];
  /** Nodes that are used alike wish alike. */
  private readonly known = new Map<unknown, Map<string, readonly Amounts[]>>();

  constructor(state: SearchState, names: readonly string[], rest: readonly number[]) {
    this.state = state;
    this.names = names;
    this.rest = [...rest];
  }

  shareOf(bin: Bin): Share {
    const level = this.names.map((name) => amountOf(bin.reserved.type.type.capacity, name));
    const { context } = this.state;
    const typeOptions = context.typeOptions.holding(bin.chosen, resolvedIn(context, bin), bin.used);
    let alike = this.known.get(typeOptions);
    if (alike === undefined) {
      alike = new Map();
      this.known.set(typeOptions, alike);
    }
    const text = `${bin.used.join()}|${level.join()}`;
    let targets = alike.get(text);
    if (targets === undefined) {
      const open = typeOptions.filter((each) => canHold(each, bin.used));
      const { instanceTypesMax } = context.problem.settings;
      const { cut } = truncate(open, minValuesOf(bin.chosen.pool.pool), instanceTypesMax);
      this.state.steps += typeOptions.length;
      targets = this.smallestFirst(
        cut.map((typeOption) => this.names.map((name) => limitedBy(typeOption, name))),
        level,
      );
      alike.set(text, targets);
    }
    return { bin, targets, level };
  }

  /** Those that ask for more than `level`, by the greatest part of the rest that they ask for. */
  private smallestFirst(targets: readonly Amounts[], level: Amounts): readonly Amounts[] {
    const partOf = (target: Amounts): number =>
      Math.max(
        ...target.map((amount, at) => {
          const [more, rest] = [amount - (level[at] ?? missing(at)), this.rest[at] ?? missing(at)];
          if (more <= 0) return 0;
          return rest > 0 ? more / rest : Infinity;
        }),
      );
    const asked = targets
      .map((target, index) => ({ target, index, part: partOf(target) }))
      .filter(({ part }) => part > 0 && part <= 1);
    return asked.sort((a, b) => a.part - b.part || a.index - b.index).map(({ target }) => target);
  }

  /** Lets the claim come to the target, if the rest can pay for it. */
  grow({ level }: Share, target: Amounts): void {
    const more = target.map((amount, at) => Math.max(0, amount - (level[at] ?? missing(at))));
    if (more.some((amount, at) => amount > 0 && amount > (this.rest[at] ?? missing(at)))) return;
    for (const [at, amount] of more.entries()) {
      level[at] = (level[at] ?? missing(at)) + amount;
      this.rest[at] = (this.rest[at] ?? missing(at)) - amount;
    }
  }

  /** Counts in the budgets what the claim may come to now. */
  take({ bin, level }: Share): void {
    const { budgets } = this.state;
    const named = this.names.map((name, at) => [name, level[at] ?? missing(at)] as const);
    budgets.take(bin.reserved, -1);
    bin.reserved = asLarge(bin.reserved, Object.fromEntries(named));
    budgets.take(bin.reserved, 1);
  }
}

/**
 * Shares what the limits of pools leave over among the new claims, so that each may list more types
 * than such as take no more than the chosen one: whatever types are launched for all of them
 * together stays within the limits. All grow by one type in turn, so that none goes short for the
 * sake of another; in the order of the plan, so that the same input shares the same way.
 */
export function widenReserved(state: SearchState): void {
  const byPool = new Map<string, Bin[]>();
  for (const bin of state.bins) {
    const { name } = bin.chosen.pool.pool;
    if (state.budgets.remaining(name) === undefined) continue;
    const bins = byPool.get(name);
    if (bins === undefined) byPool.set(name, [bin]);
    else bins.push(bin);
  }
  for (const [name, bins] of byPool) {
    const left = state.budgets.remaining(name) ?? {};
    const names = Object.keys(left).sort();
    const rest = names.map((each) => left[each] ?? 0);
    const pool = new LimitedPool(state, names, rest);
    const shares = bins.map((bin) => pool.shareOf(bin));
    const turns = Math.max(...shares.map(({ targets }) => targets.length));
    for (let turn = 0; turn < turns; turn++) {
      for (const share of shares) {
        const target = share.targets[turn];
        if (target !== undefined) pool.grow(share, target);
      }
    }
    for (const share of shares) pool.take(share);
  }
}
