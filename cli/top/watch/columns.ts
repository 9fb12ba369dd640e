import { age } from '../../../shared/core/duration.ts';
import type { LifeState } from '../../../shared/core/lifecycle/node-life.ts';
import { priceText } from '../../price-text.ts';
import { visibleLine } from '../../terminal.ts';
import { counted } from '../../words.ts';
import { shareOf, totalPrice, type Use } from '../rows.ts';
import { bar, type Line } from './screen.ts';
import { lifeText } from './snapshot.ts';

/** How a piece of text looks; the terminal's own colours, so that themes stay readable. */
export type Look = 'plain' | 'dim' | 'bold' | 'good' | 'busy' | 'bad';

/** A piece of a line. */
export interface Piece {
  readonly text: string;
  readonly look: Look;
}

/** A column of the table with its title and width; the narrower the screen the fewer there are. */
interface Column {
  readonly title: string;
  readonly width: number;
  /** Screens narrower than this do without it. */
  readonly from: number;
  readonly cell: (line: Line) => Piece;
}

const BAR = 8;

function plain(text: string): Piece {
  return { text, look: 'plain' };
}

function usageOf(line: Line, name: 'cpu' | 'memory'): Piece {
  const use: Use = line.kind === 'pool' ? line.total[name] : line.row[name];
  if (use.allocatable === 0) return { text: '-', look: 'dim' };
  const share = shareOf(use);
  const percent = `${Math.round(100 * share)}%`.padStart(5);
  // A full node is what is wanted; more than it has is not.
  return { text: `${bar(use, BAR)}${percent}`, look: share > 1 ? 'bad' : 'plain' };
}

const LOOKS: Readonly<Record<LifeState, Look>> = {
  Launching: 'busy',
  Joining: 'busy',
  Registering: 'busy',
  Initializing: 'busy',
  Ready: 'good',
  Empty: 'dim',
  Cordoned: 'busy',
  NotReady: 'bad',
  Drifted: 'busy',
  Warned: 'bad',
  Replacing: 'busy',
  Draining: 'busy',
  Terminating: 'dim',
};

function nameOf(line: Line): Piece {
  if (line.kind === 'node') return plain(`  ${line.row.node ?? line.row.nodeClaim ?? ''}`);
  const sign = line.isCollapsed ? '▸' : '▾';
  const name = line.pool === '' ? '(nodes of others)' : line.pool;
  return { text: `${sign} ${name}, ${counted(line.total.nodes, 'node')}`, look: 'bold' };
}

function ofNode(read: (row: Extract<Line, { kind: 'node' }>['row']) => string | undefined) {
  return (line: Line): Piece => plain(line.kind === 'node' ? (read(line.row) ?? '-') : '');
}

function priceOf(line: Line): Piece {
  if (line.kind === 'pool') return { text: priceText(totalPrice(line.total)), look: 'bold' };
  return plain(priceText(line.row.pricePerHour ?? null));
}

const COLUMNS: readonly Column[] = [
  { title: 'NAME', width: 34, from: 0, cell: nameOf },
  { title: 'TYPE', width: 15, from: 90, cell: ofNode(({ instanceType }) => instanceType) },
  { title: 'CAPACITY', width: 10, from: 120, cell: ofNode(({ capacityType }) => capacityType) },
  { title: 'ZONE', width: 11, from: 135, cell: ofNode(({ zone }) => zone) },
  { title: 'PRICE/H', width: 10, from: 60, cell: priceOf },
  { title: 'CPU', width: BAR + 6, from: 0, cell: (line) => usageOf(line, 'cpu') },
  { title: 'MEMORY', width: BAR + 6, from: 75, cell: (line) => usageOf(line, 'memory') },
  { title: 'PODS', width: 5, from: 105, cell: ofNode(({ pods }) => String(pods)) },
  { title: 'AGE', width: 7, from: 80, cell: ofNode(({ ageSeconds }) => age(ageSeconds)) },
];

/** Cut with an ellipsis, or filled with spaces. */
function fitted(given: string, width: number): string {
  if (width <= 0) return '';
  const text = visibleLine(given);
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text.padEnd(width);
}

/** The name gives way to the other columns and to so much of the state. */
const STATE_LEAST = 12;
const NAME_LEAST = 12;
/** What the state needs beyond this gives way to other columns that are cut. */
const STATE_ENOUGH = 40;

/** The columns that are shown, and the width of what a node waits for behind them. */
export interface Layout {
  readonly columns: readonly Column[];
  readonly state: number;
}

/** The columns of a screen of this width, whatever is in them. */
function shownColumns(width: number): readonly Column[] {
  const [name, ...others] = COLUMNS.filter(({ from }) => width >= from);
  if (name === undefined) return [];
  const beside = others.reduce((sum, column) => sum + column.width + 1, STATE_LEAST + 1);
  const own = Math.min(name.width, Math.max(NAME_LEAST, width - beside));
  return [{ ...name, width: own }, ...others];
}

function longest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, visibleLine(text).length), 0);
}

/** How the lines are laid out: what the state has to spare goes to columns that would be cut. */
export function layoutOf(lines: readonly Line[], width: number): Layout {
  const least = shownColumns(width);
  const state = width - least.reduce((sum, column) => sum + column.width + 1, 0);
  const states = lines.map((line) => (line.kind === 'node' ? lifeText(line.row.life) : ''));
  const needed = Math.min(STATE_ENOUGH, Math.max(STATE_LEAST, longest(states)));
  let spare = Math.max(0, state - needed);
  const columns = least.map((column): Column => {
    const cut = longest(lines.map((line) => column.cell(line).text)) - column.width;
    const more = Math.min(spare, Math.max(0, cut));
    spare -= more;
    return { ...column, width: column.width + more };
  });
  const used = columns.reduce((sum, column) => sum + column.width + 1, 0);
  return { columns, state: Math.max(0, width - used) };
}

/** The titles of the columns. */
export function titleLine({ columns, state }: Layout): string {
  const titles = columns.map(({ title, width }) => fitted(title, width));
  return [...titles, fitted('STATE', state)].join(' ');
}

function stateOf(line: Line, width: number): readonly Piece[] {
  if (line.kind === 'pool' || width <= 0) return [plain(' '.repeat(Math.max(0, width)))];
  const { life } = line.row;
  const name = fitted(life.state, Math.min(width, life.state.length));
  const rest = lifeText(life).slice(life.state.length);
  return [
    { text: name, look: LOOKS[life.state] },
    { text: fitted(rest, width - name.length), look: 'dim' },
  ];
}

/** A line of the table in pieces that fill the width. */
export function piecesOf(line: Line, { columns, state }: Layout): readonly Piece[] {
  const cells = columns.flatMap(({ cell, width }): readonly Piece[] => {
    const { text, look } = cell(line);
    return [{ text: fitted(text, width), look }, plain(' ')];
  });
  return [...cells, ...stateOf(line, state)];
}
