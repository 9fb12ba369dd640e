import { age } from '../../../shared/core/duration.ts';
import type { LifeState } from '../../../shared/core/lifecycle/node-life.ts';
import { priceText } from '../../price-text.ts';
import { visibleLine } from '../../terminal.ts';
import { shareOf, type Use } from '../rows.ts';
import { bar, type Line } from './screen.ts';

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
  const look = share > 0.9 ? 'bad' : share > 0.5 ? 'good' : 'busy';
  return { text: `${bar(use, BAR)}${percent}`, look };
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
  return { text: `${sign} ${name}, ${line.total.nodes} nodes`, look: 'bold' };
}

function ofNode(read: (row: Extract<Line, { kind: 'node' }>['row']) => string | undefined) {
  return (line: Line): Piece => plain(line.kind === 'node' ? (read(line.row) ?? '-') : '');
}

function priceOf(line: Line): Piece {
  if (line.kind === 'pool') return { text: priceText(line.total.pricePerHour), look: 'bold' };
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

function shownColumns(width: number): readonly Column[] {
  const [name, ...others] = COLUMNS.filter(({ from }) => width >= from);
  if (name === undefined) return [];
  const beside = others.reduce((sum, column) => sum + column.width + 1, STATE_LEAST + 1);
  const own = Math.min(name.width, Math.max(NAME_LEAST, width - beside));
  return [{ ...name, width: own }, ...others];
}

/** What is left for the state and what a node waits for. */
function stateWidth(width: number): number {
  const others = shownColumns(width).reduce((sum, column) => sum + column.width + 1, 0);
  return Math.max(0, width - others);
}

/** The titles of the columns that a screen of this width has. */
export function titleLine(width: number): string {
  const titles = shownColumns(width).map(({ title, width: own }) => fitted(title, own));
  return [...titles, fitted('STATE', stateWidth(width))].join(' ');
}

function stateOf(line: Line, width: number): readonly Piece[] {
  if (line.kind === 'pool' || width <= 0) return [plain(' '.repeat(Math.max(0, width)))];
  const { state, detail } = line.row.life;
  const name = fitted(state, Math.min(width, state.length));
  const rest = detail === '' ? '' : `: ${detail}`;
  return [
    { text: name, look: LOOKS[state] },
    { text: fitted(rest, width - name.length), look: 'dim' },
  ];
}

/** A line of the table in pieces that fill the width. */
export function piecesOf(line: Line, width: number): readonly Piece[] {
  const cells = shownColumns(width).flatMap(({ cell, width: own }): readonly Piece[] => {
    const { text, look } = cell(line);
    return [{ text: fitted(text, own), look }, plain(' ')];
  });
  return [...cells, ...stateOf(line, stateWidth(width))];
}
