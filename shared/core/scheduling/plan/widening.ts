import { amountOf } from '../../model/resources.ts';
import { asLarge, minValuesOf } from '../world/min-values.ts';
import { limitedBy, opensTo } from '../world/openings.ts';
import { type Bin, viewsIn, type World } from '../world/world.ts';
import { truncate } from './flexibility.ts';

/** By limited resource, in the order of their names: how much of it a claim may come to. */
type Amounts = readonly number[];

/** A claim of a limited pool while the rest of the limits is shared out. */
interface Share {
  readonly bin: Bin;
  /** What its further types take, those first that ask for least of the rest. */
  readonly wishes: readonly Amounts[];
  readonly level: number[];
}

/** The pool's limits as claims of this plan share them. */
class LimitedPool {
  private readonly world: World;
  private readonly names: readonly string[];
  private readonly rest: number[];
  /** Nodes that are used alike wish alike. */
  private readonly known = new Map<unknown, Map<string, readonly Amounts[]>>();

  constructor(world: World, names: readonly string[], rest: readonly number[]) {
    this.world = world;
    this.names = names;
    this.rest = [...rest];
  }

  shareOf(bin: Bin): Share {
    const level = this.names.map((name) => amountOf(bin.cover.type.type.capacity, name));
    const { ground } = this.world;
    const openings = ground.openings.holding(bin.held, viewsIn(ground, bin), bin.used);
    let alike = this.known.get(openings);
    if (alike === undefined) {
      alike = new Map();
      this.known.set(openings, alike);
    }
    const text = `${bin.used.join()}|${level.join()}`;
    let wishes = alike.get(text);
    if (wishes === undefined) {
      const open = openings.filter((each) => opensTo(each, bin.used));
      const { instanceTypesMax } = ground.problem.settings;
      const { cut } = truncate(open, minValuesOf(bin.held.pool.pool), instanceTypesMax);
      this.world.steps += openings.length;
      wishes = this.inTurn(
        cut.map((opening) => this.names.map((name) => limitedBy(opening, name))),
        level,
      );
      alike.set(text, wishes);
    }
    return { bin, wishes, level };
  }

  /** Those that ask for more than `level`, by the greatest part of the rest that they ask for. */
  private inTurn(wishes: readonly Amounts[], level: Amounts): readonly Amounts[] {
    const partOf = (wish: Amounts): number =>
      Math.max(
        ...wish.map((amount, at) => {
          const [more, rest] = [amount - (level[at] ?? 0), this.rest[at] ?? 0];
          if (more <= 0) return 0;
          return rest > 0 ? more / rest : Infinity;
        }),
      );
    const asked = wishes
      .map((wish, index) => ({ wish, index, part: partOf(wish) }))
      .filter(({ part }) => part > 0 && part <= 1);
    return asked.sort((a, b) => a.part - b.part || a.index - b.index).map(({ wish }) => wish);
  }

  /** Lets the claim come to what it wishes, if the rest can pay for it. */
  grow({ level }: Share, wish: Amounts): void {
    const more = wish.map((amount, at) => Math.max(0, amount - (level[at] ?? 0)));
    if (more.some((amount, at) => amount > 0 && amount > (this.rest[at] ?? 0))) return;
    for (const [at, amount] of more.entries()) {
      level[at] = (level[at] ?? 0) + amount;
      this.rest[at] = (this.rest[at] ?? 0) - amount;
    }
  }

  /** Counts in the budgets what the claim may come to now. */
  take({ bin, level }: Share): void {
    const { budgets } = this.world;
    const named = this.names.map((name, at) => [name, level[at] ?? 0] as const);
    budgets.take(bin.cover, -1);
    bin.cover = asLarge(bin.cover, Object.fromEntries(named));
    budgets.take(bin.cover, 1);
  }
}

/**
 * Shares what the limits of pools leave over among the new claims, so that each may list more types
 * than such as take no more than the chosen one: whatever types are launched for all of them
 * together stays within the limits. All grow by one type in turn, so that none goes short for the
 * sake of another; in the order of the plan, so that the same input shares the same way.
 */
export function widenCovers(world: World): void {
  const byPool = new Map<string, Bin[]>();
  for (const bin of world.bins) {
    const { name } = bin.held.pool.pool;
    if (world.budgets.remaining(name) === undefined) continue;
    const bins = byPool.get(name);
    if (bins === undefined) byPool.set(name, [bin]);
    else bins.push(bin);
  }
  for (const [name, bins] of byPool) {
    const left = world.budgets.remaining(name) ?? {};
    const names = Object.keys(left).sort();
    const rest = names.map((each) => left[each] ?? 0);
    const pool = new LimitedPool(world, names, rest);
    const shares = bins.map((bin) => pool.shareOf(bin));
    const turns = Math.max(...shares.map(({ wishes }) => wishes.length));
    for (let turn = 0; turn < turns; turn++) {
      for (const share of shares) {
        const wish = share.wishes[turn];
        if (wish !== undefined) pool.grow(share, wish);
      }
    }
    for (const share of shares) pool.take(share);
  }
}
