import type { Item } from '../placing/assign.ts';
import { type Column, type ColumnGroup, compareColumns } from '../problem/columns.ts';
import { daemonPortsOn } from '../problem/host-ports.ts';
import { addToHost, emptyHost, hostAllows } from '../world/host.ts';
import { Covers, insistsOnMinValues } from '../world/min-values.ts';
import { type Bin, type World, zeros } from '../world/world.ts';
import { type Bucket, Filler, howMany, type Pattern } from './fill.ts';
import { podValues, type Relaxations } from './pod-values.ts';
import { type Stock, stocksOf } from './stocks.ts';

/** Of devices, so many kinds at most: the number of mixes grows with the power of it. */
const DEVICES_MAX = 1;

/**
 * Resources whose use decides what a node costs: cpu and memory, where they are asked for, and the
 * device that is asked for most, since it is dearer than both.
 */
function mainResources(
  buckets: readonly Bucket[],
  resources: readonly string[],
  left: Float64Array,
): readonly number[] {
  const asked = (r: number) =>
    buckets.reduce((sum, { id, requests }) => sum + (left[id] ?? 0) * (requests[r] ?? 0), 0);
  const basic = ['cpu', 'memory'].map((name) => resources.indexOf(name)).filter((r) => r >= 0);
  const devices = resources
    .map((name, r) => ({ r, amount: name.includes('/') ? asked(r) : 0 }))
    .filter(({ amount }) => amount > 0)
    .sort((a, b) => b.amount - a.amount)
    .slice(0, DEVICES_MAX);
  const found = [...basic.filter((r) => asked(r) > 0), ...devices.map(({ r }) => r)];
  return found.length > 0 ? found : [Math.max(0, resources.indexOf('pods'))];
}

function leftOf(stocks: readonly Stock[]): Float64Array {
  return Float64Array.from(stocks, ({ items }) => items.reduce((sum, item) => sum + item.count, 0));
}

/** Columns of a tier that some stock may use, each no worse than the others in its group. */
function usableColumns(
  groups: readonly ColumnGroup[],
  stocks: readonly Stock[],
): readonly Column[] {
  return groups
    .filter((group) => stocks.some(({ bucket }) => bucket.allowed[group.id] === 1))
    .flatMap((group) => group.front)
    .sort(compareColumns);
}

/** A column, and the price for value of the best filling known for it. */
interface Entry {
  readonly column: Column;
  readonly score: number;
  /** The round in which it was looked at. */
  readonly round: number;
  readonly pattern: Pattern | undefined;
}

function compareEntries(a: Entry, b: Entry): number {
  return a.score - b.score || compareColumns(a.column, b.column);
}

function insert(queue: Entry[], entry: Entry): void {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareEntries(queue[middle] as Entry, entry) < 0) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, entry);
}

/** How much effort a packing is. */
export interface Effort {
  /** Whether what pods are worth is worked out anew on the way. */
  readonly revalues: boolean;
  /** Fillings looked at for one column at most. */
  readonly searchSteps: number;
  /** Fillings looked at for all columns together; what is left is shared so that late searches are short. */
  readonly searchedMax: number;
}

/** What is left to a packing is shared among so many searches to come. */
const SEARCHES_AHEAD = 64;

/** Values are worked out anew when what is left is worth less than this share of what was. */
const REVALUED_AT = 0.5;

/** Not for the last few pods: as a share of what all were worth. */
const REVALUED_LEAST = 0.05;

/** Packs one tier's stocks into new bins. */
class Packer {
  private readonly world: World;
  private readonly stocks: readonly Stock[];
  private readonly columns: readonly Column[];
  private readonly left: Float64Array;
  private readonly relaxations: Relaxations;
  private readonly searchMost: number;
  private readonly searchedMax: number;
  private readonly filler: Filler;
  private readonly nodePrice: number;
  private readonly main: readonly number[];
  private values: Float64Array;
  /** What is left may be worth so much before values are worked out anew. */
  private revaluedBelow: number;
  private readonly revaluedLeast: number;

  constructor(
    world: World,
    stocks: readonly Stock[],
    columns: readonly Column[],
    { revalues, searchSteps, searchedMax }: Effort,
    relaxations: Relaxations,
  ) {
    this.relaxations = relaxations;
    this.world = world;
    this.stocks = stocks;
    this.columns = columns;
    this.left = leftOf(stocks);
    this.searchMost = searchSteps;
    this.searchedMax = searchedMax;
    const { problem } = world.ground;
    this.nodePrice = problem.settings.nodePrice;
    const buckets = stocks.map((stock) => stock.bucket);
    this.main = mainResources(buckets, problem.resources, this.left);
    this.values = this.podValues();
    this.filler = new Filler(buckets, this.main, this.values);
    const worth = this.worthOfLeft();
    this.revaluedBelow = revalues ? REVALUED_AT * worth : 0;
    this.revaluedLeast = REVALUED_LEAST * worth;
  }

  private podValues(): Float64Array {
    const { nodePrice, relaxations, left, columns, main } = this;
    const { stepsMax } = this.world.ground.problem.settings;
    const buckets = this.stocks.map((stock) => stock.bucket);
    const options = { nodePrice, pivotsMax: 800, stepsMax };
    // Pieces are weighed by two resources.
    return podValues(relaxations, buckets, left, columns, main.slice(0, 2), options).values;
  }

  private worthOfLeft(): number {
    return this.values.reduce((sum, value, id) => sum + value * (this.left[id] ?? 0), 0);
  }

  /**
   * Opens the bins that are worth most for their price until nothing more can be placed. Less is
   * left each round, so a column's score can only get worse: the first whose score is up to date is
   * the best.
   */
  run(): void {
    const { budgets } = this.world;
    let queue = this.queueOf(this.columns.filter((column) => budgets.allowance(column, 1) > 0));
    for (let round = 0; queue.length > 0; ) {
      const entry = queue.shift() as Entry;
      if (entry.round !== round && !this.isLeft(entry.pattern)) {
        const pattern = this.filler.search(entry.column, this.left, this.searchSteps());
        if (pattern !== undefined) insert(queue, this.scored(entry.column, pattern, round));
        continue;
      }
      const placed = entry.pattern === undefined ? 0 : this.launch(entry.pattern);
      if (placed === 0 || budgets.allowance(entry.column, 1) === 0) continue;
      insert(queue, entry);
      round++;
      if (this.revalues()) queue = this.queueOf(queue.map(({ column }) => column));
    }
  }

  private queueOf(columns: readonly Column[]): Entry[] {
    return columns
      .map((column) => ({ column, score: this.leastScore(column), round: -1, pattern: undefined }))
      .sort(compareEntries);
  }

  /** What is left differs from what there was: its values may, too. Says whether they were renewed. */
  private revalues(): boolean {
    if (this.revaluedBelow === 0) return false;
    const worth = this.worthOfLeft();
    if (worth >= this.revaluedBelow || worth < this.revaluedLeast) return false;
    this.values = this.podValues();
    this.filler.setValues(this.values);
    this.revaluedBelow = REVALUED_AT * this.worthOfLeft();
    return true;
  }

  /** Whether there are still pods for the whole pattern: then it is still the column's best. */
  private isLeft(pattern: Pattern | undefined): boolean {
    if (pattern === undefined) return false;
    return pattern.buckets.every(
      (bucket, index) => (this.left[bucket] ?? 0) >= (pattern.amounts[index] ?? 0),
    );
  }

  private searchSteps(): number {
    const left = Math.max(0, this.searchedMax - this.filler.searched);
    return Math.min(this.searchMost, Math.floor(left / SEARCHES_AHEAD));
  }

  private scored(column: Column, pattern: Pattern, round: number): Entry {
    const score = (column.price + this.nodePrice) / Math.max(pattern.value, 1e-12);
    return { column, score, round, pattern };
  }

  /** The best price for value that the column could have. */
  private leastScore(column: Column): number {
    const most = this.filler.ceiling(column, this.left);
    return (column.price + this.nodePrice) / Math.max(most, 1e-12);
  }

  /** Opens as many bins of the pattern as there are pods for; returns how many pods went in. */
  private launch(pattern: Pattern): number {
    let copies = Number.POSITIVE_INFINITY;
    for (const [index, bucket] of pattern.buckets.entries()) {
      const amount = pattern.amounts[index] ?? 1;
      copies = Math.min(copies, Math.floor((this.left[bucket] ?? 0) / amount));
    }
    copies = this.world.budgets.allowance(pattern.column, Math.max(1, copies));
    let placed = 0;
    for (let copy = 0; copy < copies; copy++) {
      const added = this.realize(pattern);
      placed += added;
      if (added === 0) break;
    }
    return placed;
  }

  private realize(pattern: Pattern): number {
    const { world } = this;
    const { column } = pattern;
    const { problem } = world.ground;
    const bin: Bin = {
      columns: [column],
      held: column,
      cover: column,
      used: zeros(problem.resources.length),
      host: emptyHost(daemonPortsOn(problem, column)),
      content: new Map(),
    };
    let placed = 0;
    let isShort = false;
    for (const [index, bucket] of pattern.buckets.entries()) {
      const wanted = pattern.amounts[index] ?? 0;
      const drawn = this.draw(bin, this.stocks[bucket] as Stock, wanted);
      placed += drawn;
      isShort ||= drawn < wanted;
    }
    if (placed === 0) return 0;
    if (isShort) placed += this.topUp(bin);
    world.budgets.take(column, 1);
    world.cover(bin);
    world.bins.push(bin);
    return placed;
  }

  /** Pods that keep apart left room in the bin: others take it. */
  private topUp(bin: Bin): number {
    const room = bin.held.room.map((amount, r) => amount - (bin.used[r] ?? 0));
    let placed = 0;
    for (const index of this.filler.order(bin.held)) {
      const stock = this.stocks[index] as Stock;
      const left = this.left[index] ?? 0;
      if (left <= 0 || stock.bucket.allowed[bin.held.group.id] !== 1) continue;
      const drawn = this.draw(bin, stock, howMany(stock.bucket, room, left));
      for (let r = 0; r < room.length; r++) {
        room[r] = (room[r] ?? 0) - drawn * (stock.bucket.requests[r] ?? 0);
      }
      placed += drawn;
    }
    return placed;
  }

  /** Puts up to `wanted` pods of the stock in the bin, as host rules and minValues allow. */
  private draw(bin: Bin, stock: Stock, wanted: number): number {
    let drawn = 0;
    const { items, bucket } = stock;
    for (let looked = 0; looked < items.length && drawn < wanted; looked++) {
      const item = items[(stock.next + looked) % items.length] as Item;
      while (item.count > 0 && drawn < wanted) {
        const batch = item.view.host.isFree ? Math.min(item.count, wanted - drawn) : 1;
        if (!this.mayJoin(bin, item, batch)) break;
        put(this.world, item, bin, batch);
        drawn += batch;
        this.left[bucket.id] = (this.left[bucket.id] ?? 0) - batch;
      }
    }
    stock.next = (stock.next + 1) % items.length;
    return drawn;
  }

  private mayJoin(bin: Bin, { view }: Item, batch: number): boolean {
    const { ground, budgets } = this.world;
    if (!hostAllows(view.host, bin.host, this.world.totals)) return false;
    if (!insistsOnMinValues(ground.problem, bin.held.pool.pool)) return true;
    const used = bin.used.map((amount, r) => amount + batch * (view.podClass.requests[r] ?? 0));
    const present = [...bin.content.keys()].flatMap((each) => ground.views[each.id] ?? []);
    return new Covers(ground, budgets, [...present, view], used).of(bin.held) !== undefined;
  }
}

/** Pods that were counted in their domain before are put in a bin. */
function put(world: World, item: Item, bin: Bin, amount: number): void {
  const { podClass, host } = item.view;
  for (let r = 0; r < bin.used.length; r++) {
    bin.used[r] = (bin.used[r] ?? 0) + (podClass.requests[r] ?? 0) * amount;
  }
  addToHost(host, bin.host, world.totals, amount);
  bin.content.set(podClass, (bin.content.get(podClass) ?? 0) + amount);
  item.count -= amount;
}

/** Packs items into the pools' new nodes, heaviest first. */
export function packItems(
  world: World,
  items: readonly Item[],
  effort: Effort,
  relaxations: Relaxations,
): void {
  const { problem, weights } = world.ground;
  for (const weight of weights) {
    const groups = problem.groups.filter((group) => group.pool.pool.weight === weight);
    const mine = items.filter(
      (item) => item.count > 0 && groups.some((group) => item.allowed[group.id] === 1),
    );
    if (mine.length === 0) continue;
    const stocks = stocksOf(mine);
    const columns = usableColumns(groups, stocks);
    new Packer(world, stocks, columns, effort, relaxations).run();
  }
  for (const item of items) {
    if (item.count > 0) {
      const { podClass } = item.view;
      world.left.set(podClass, world.leftOf(podClass) + item.count);
    }
  }
}
