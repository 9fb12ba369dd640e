import { age } from '../../../shared/core/duration.ts';
import { priceText } from '../../price-text.ts';
import { counted } from '../../words.ts';
import { totalPrice } from '../rows.ts';
import { layoutOf, type Piece, piecesOf, titleLine } from './columns.ts';
import { firstShown, linesOf, type Price, trendText, type View } from './screen.ts';
import type { TopSnapshot } from './snapshot.ts';

/** The cluster as the screen follows it. */
export interface Feed {
  /** The newest moment; undefined: nothing has been read yet. */
  readonly moment: TopSnapshot | undefined;
  readonly history: readonly Price[];
  /** Why the last read failed; empty where it did not. */
  readonly failure: string;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A line of the screen. */
export interface ScreenLine {
  readonly pieces: readonly Piece[];
  /** Keys act on it. */
  readonly isChosen: boolean;
}

/** The lines of a screen, no more than it has: from its top, and at its bottom. */
export interface Picture {
  readonly above: readonly ScreenLine[];
  readonly below: readonly ScreenLine[];
}

function lineOf(look: Piece['look'], text: string): ScreenLine {
  return { pieces: [{ text, look }], isChosen: false };
}

function headLines(title: string, moment: TopSnapshot, feed: Feed): readonly ScreenLine[] {
  const { all, pending, notes, atMs } = moment;
  const time = new Date(atMs).toISOString().slice(11, 19);
  const unpriced = all.unpriced === 0 ? '' : ` (+${all.unpriced} of unknown price)`;
  const sums = `${counted(all.nodes, 'node')}, ${priceText(totalPrice(all))}/h${unpriced}`;
  const parts = [sums, trendText(feed.history), counted(pending.length, 'pending pod')];
  return [
    lineOf('dim', `${title}   ${time}Z`),
    lineOf('bold', parts.filter((each) => each !== '').join('   ')),
    ...notes.map((note) => lineOf('busy', note)),
    ...(feed.failure === '' ? [] : [lineOf('bad', feed.failure)]),
  ];
}

/** Pending pods that are shown below the table. */
const PENDING_MAX = 5;

/** In so many lines at most: a heading, and pods below it. */
function pendingLines({ pending }: TopSnapshot, linesMax: number): readonly ScreenLine[] {
  const shown = Math.min(pending.length, PENDING_MAX, linesMax - 1);
  if (shown <= 0) return [];
  const more = pending.length > shown ? `, the ${shown} that wait longest` : '';
  return [
    lineOf('bold', `Pending pods${more}`),
    ...pending
      .slice(0, shown)
      .map(({ pod, ageSeconds, reason }) =>
        lineOf('plain', `  ${pod}  ${age(ageSeconds)}  ${reason}`),
      ),
  ];
}

function helpLine({ sort, filter, isFiltering }: View): ScreenLine {
  const filtered = filter === '' ? '' : `   filter: ${filter} (Esc clears)`;
  return lineOf(
    'dim',
    isFiltering
      ? `filter: ${filter}▏  Enter: keep   Esc: clear`
      : `q quit   ↑↓ move   Enter fold   a fold all   s sort: ${sort}   / filter${filtered}`,
  );
}

/** Lines of the table that are shown before pending pods are. */
const TABLE_LEAST = 3;

/** What is on a screen of this size. What does not fit its height is left out. */
export function pictureOf(title: string, feed: Feed, view: View, { columns, rows }: Size): Picture {
  // The terminal scrolls where its last line is written to.
  const height = Math.max(1, rows - 1);
  const help = helpLine(view);
  const { moment } = feed;
  if (moment === undefined)
    return { above: [lineOf('plain', `${title}: reading …`)], below: [help] };
  const lines = linesOf(moment, view);
  const layout = layoutOf(lines, columns);
  // Of notes and failures so many that the titles, a line of the table and the help are there.
  const head = headLines(title, moment, feed).slice(0, Math.max(1, height - 3));
  const left = height - head.length - 2;
  const foot = pendingLines(moment, left - Math.min(TABLE_LEAST, lines.length));
  const own = Math.max(0, left - foot.length);
  const from = firstShown(view.cursor, lines.length, own);
  const shown = lines.slice(from, from + own).map((line, at) => ({
    pieces: piecesOf(line, layout),
    isChosen: from + at === view.cursor,
  }));
  const above = [...head, lineOf('dim', titleLine(layout)), ...shown].slice(0, height);
  return { above, below: [...foot, help].slice(0, height - above.length) };
}
