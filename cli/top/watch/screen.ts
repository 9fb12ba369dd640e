import { age } from '../../../shared/core/duration.ts';
import { priceText } from '../../price-text.ts';
import { SORTS, type Sort, shareOf, sorted, type Total, totalsOf, type Use } from '../rows.ts';
import type { LivingRow, TopSnapshot } from './snapshot.ts';

/** What a person has chosen to see. */
export interface View {
  /** Undefined: by name. */
  readonly sort: Sort;
  /** NodePools whose nodes are hidden; `''` stands for nodes of others. */
  readonly collapsed: ReadonlySet<string>;
  /** Rows that contain it in any column; empty: all. */
  readonly filter: string;
  /** Keys go to the filter. */
  readonly isFiltering: boolean;
  /** The line that keys act on, from 0. */
  readonly cursor: number;
}

export const FIRST_VIEW: View = {
  sort: 'name',
  collapsed: new Set(),
  filter: '',
  isFiltering: false,
  cursor: 0,
};

/** A line of the table: a NodePool with its sums, or a node of it. */
export type Line =
  | {
      readonly kind: 'pool';
      readonly pool: string;
      readonly total: Total;
      readonly isCollapsed: boolean;
    }
  | { readonly kind: 'node'; readonly pool: string; readonly row: LivingRow };

function textOf({ node, nodeClaim, nodePool, instanceType, capacityType, zone, life }: LivingRow) {
  const texts = [node, nodeClaim, nodePool, instanceType, capacityType, zone, life.state];
  return texts.join(' ').toLowerCase();
}

/** The lines of the table: of the rows that the filter leaves, with the sums of these. */
export function linesOf({ rows }: Pick<TopSnapshot, 'rows'>, view: View): readonly Line[] {
  const wanted = view.filter.toLowerCase();
  const left = rows.filter((row) => wanted === '' || textOf(row).includes(wanted));
  const ofPool = Map.groupBy(left, ({ nodePool }) => nodePool ?? '');
  return totalsOf(left).byPool.flatMap((total): readonly Line[] => {
    const pool = total.nodePool ?? '';
    const own = ofPool.get(pool) ?? [];
    const isCollapsed = view.collapsed.has(pool);
    const head: Line = { kind: 'pool', pool, total, isCollapsed };
    if (isCollapsed) return [head];
    const nodes = sorted(own, view.sort).map((row): Line => ({ kind: 'node', pool, row }));
    return [head, ...nodes];
  });
}

/** A key as the terminal reports it. */
export interface Key {
  /** What was typed, where it is a character. */
  readonly input: string;
  readonly name?:
    | 'up'
    | 'down'
    | 'pageUp'
    | 'pageDown'
    | 'home'
    | 'end'
    | 'return'
    | 'escape'
    | 'backspace';
}

const PAGE = 10;

function nextSort(sort: Sort, by: number): Sort {
  const at = (SORTS.indexOf(sort) + by + SORTS.length) % SORTS.length;
  return SORTS[at] ?? sort;
}

function toggled(collapsed: ReadonlySet<string>, pool: string): ReadonlySet<string> {
  const next = new Set(collapsed);
  if (!next.delete(pool)) next.add(pool);
  return next;
}

function filtering(view: View, { input, name }: Key): View {
  if (name === 'escape') return { ...view, filter: '', isFiltering: false };
  if (name === 'return') return { ...view, isFiltering: false, cursor: 0 };
  if (name === 'backspace') return { ...view, filter: view.filter.slice(0, -1), cursor: 0 };
  return name === undefined ? { ...view, filter: view.filter + input, cursor: 0 } : view;
}

const MOVES: Readonly<Record<string, (cursor: number, last: number) => number>> = {
  up: (cursor) => cursor - 1,
  k: (cursor) => cursor - 1,
  down: (cursor) => cursor + 1,
  j: (cursor) => cursor + 1,
  pageUp: (cursor) => cursor - PAGE,
  pageDown: (cursor) => cursor + PAGE,
  home: () => 0,
  g: () => 0,
  end: (_, last) => last,
  G: (_, last) => last,
};

/** What the view becomes; `quit`: the person has seen enough. */
export function afterKey(view: View, key: Key, lines: readonly Line[]): View | 'quit' {
  if (view.isFiltering) return filtering(view, key);
  const { input, name } = key;
  const last = Math.max(0, lines.length - 1);
  const move = MOVES[name ?? input];
  if (move !== undefined) {
    return { ...view, cursor: Math.min(last, Math.max(0, move(view.cursor, last))) };
  }
  const pool = lines[Math.min(view.cursor, last)]?.pool;
  if (name === 'return' || input === ' ') {
    return pool === undefined ? view : { ...view, collapsed: toggled(view.collapsed, pool) };
  }
  if (name === 'escape') return { ...view, filter: '', cursor: 0 };
  switch (input) {
    case 'q':
      return 'quit';
    case 's':
      return { ...view, sort: nextSort(view.sort, 1) };
    case 'S':
      return { ...view, sort: nextSort(view.sort, -1) };
    case '/':
      return { ...view, isFiltering: true };
    case 'a': {
      const pools = lines.map((line) => line.pool);
      const isAnyOpen = pools.some((each) => !view.collapsed.has(each));
      return { ...view, cursor: 0, collapsed: new Set(isAnyOpen ? pools : []) };
    }
    default:
      return view;
  }
}

/** The first line that is shown, so that the cursor stays in sight. */
export function firstShown(cursor: number, lines: number, height: number): number {
  const most = Math.max(0, lines - height);
  return Math.min(most, Math.max(0, cursor - Math.floor(height / 2)));
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** A share as a bar of so many columns. */
export function bar(use: Use, columns: number): string {
  const share = Math.min(1, Math.max(0, shareOf(use)));
  const eighths = Math.round(share * columns * 8);
  const full = '█'.repeat(Math.floor(eighths / 8));
  return `${full}${EIGHTHS[eighths % 8] ?? ''}`.padEnd(columns, '░');
}

const LEVELS = '▁▂▃▄▅▆▇█';

/** A line of values, from the lowest to the highest of them; empty where none has changed. */
export function sparkline(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (values.length < 2 || least === most) return '';
  return values
    .map((value) => LEVELS[Math.round(((value - least) / (most - least)) * (LEVELS.length - 1))])
    .join('');
}

/** What the nodes have cost an hour, with the times. */
export interface Price {
  readonly atMs: number;
  readonly perHour: number;
}

/** Values of the sparkline. */
const SHOWN = 24;
/** Back to where the trend begins. */
const TREND_MS = 5 * 60_000;

/** `+$0.1200 in 5m ▁▃█`; empty where nothing has changed. */
export function trendText(history: readonly Price[]): string {
  const now = history.at(-1);
  if (now === undefined) return '';
  const recent = history.filter(({ atMs }) => now.atMs - atMs <= TREND_MS);
  const [first = now] = recent;
  const change = now.perHour - first.perHour;
  const line = sparkline(history.slice(-SHOWN).map(({ perHour }) => perHour));
  if (line === '') return '';
  const sign = change < 0 ? '-' : '+';
  const seconds = Math.round((now.atMs - first.atMs) / 1000);
  return `${sign}${priceText(Math.abs(change))} in ${age(seconds)} ${line}`;
}
