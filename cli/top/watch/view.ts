import { enterAlternativeScreen, exitAlternativeScreen } from 'ansi-escapes';
import { Box, render, Text, useApp, useInput, useStdout } from 'ink';
import { createElement as h, type ReactNode, useEffect, useRef, useState } from 'react';
import { age } from '../../../shared/core/duration.ts';
import { priceText } from '../../price-text.ts';
import { visibleLine } from '../../terminal.ts';
import type { Sort } from '../rows.ts';
import { type Look, type Piece, piecesOf, titleLine } from './columns.ts';
import {
  afterKey,
  FIRST_VIEW,
  firstShown,
  type Key,
  linesOf,
  type Price,
  trendText,
  type View,
} from './screen.ts';
import type { TopSnapshot } from './snapshot.ts';

/** The cluster as the screen follows it. */
export interface Feed {
  /** The newest moment; undefined: nothing has been read yet. */
  readonly moment: TopSnapshot | undefined;
  readonly history: readonly Price[];
  /** Why the last read failed; empty where it did not. */
  readonly failure: string;
}

export interface ScreenOptions {
  /** Of the cluster and its prices. */
  readonly title: string;
  readonly current: () => Feed;
  /**
   * Calls back whenever there is another, or once with the error that ends the screen; returns what
   * ends that.
   */
  readonly follow: (changed: () => void, failed: (error: unknown) => void) => () => void;
  /** How rows are sorted at first; undefined: as without a choice. */
  readonly sort: Sort | undefined;
}

/** None with NO_COLOR, which chalk does not know; what is chosen or dim stays. https://no-color.org */
function coloured(color: string): { color?: string } {
  return process.env['NO_COLOR'] ? {} : { color };
}

const STYLES: Readonly<Record<Look, { color?: string; dimColor?: boolean; bold?: boolean }>> = {
  plain: {},
  dim: { dimColor: true },
  bold: { bold: true },
  good: coloured('green'),
  busy: coloured('yellow'),
  bad: coloured('red'),
};

function line(key: string, pieces: readonly Piece[], isChosen: boolean): ReactNode {
  const texts = pieces.map(({ text, look }, at) =>
    h(Text, { key: at, ...STYLES[look] }, visibleLine(text)),
  );
  return h(Text, { key, inverse: isChosen, wrap: 'truncate' }, ...texts);
}

function headLines({ title, current }: ScreenOptions): readonly ReactNode[] {
  const { moment, history, failure } = current();
  if (moment === undefined) return [h(Text, { key: 'title' }, visibleLine(`${title}: reading …`))];
  const { all, pending, notes, atMs } = moment;
  const time = new Date(atMs).toISOString().slice(11, 19);
  const unpriced = all.unpriced === 0 ? '' : ` (+${all.unpriced} of unknown price)`;
  const sums = `${all.nodes} nodes, ${priceText(all.pricePerHour)}/h${unpriced}`;
  const waiting = `${pending.length} pending pods`;
  const text = [sums, trendText(history), waiting].filter((each) => each !== '').join('   ');
  return [
    h(Text, { key: 'title', dimColor: true, wrap: 'truncate' }, visibleLine(`${title}   ${time}Z`)),
    h(Text, { key: 'sums', bold: true, wrap: 'truncate' }, text),
    ...notes.map((note) =>
      h(Text, { key: note, ...coloured('yellow'), wrap: 'truncate' }, visibleLine(note)),
    ),
    ...(failure === ''
      ? []
      : [h(Text, { key: 'failure', ...coloured('red'), wrap: 'truncate' }, visibleLine(failure))]),
  ];
}

/** Pending pods that are shown below the table. */
const PENDING_MAX = 5;

function pendingLines({ pending }: TopSnapshot): readonly ReactNode[] {
  if (pending.length === 0) return [];
  const more = pending.length > PENDING_MAX ? `, the ${PENDING_MAX} that wait longest` : '';
  return [
    h(Text, { key: 'pending', bold: true }, `Pending pods${more}`),
    ...pending
      .slice(0, PENDING_MAX)
      .map(({ pod, ageSeconds, reason }) =>
        h(
          Text,
          { key: pod, wrap: 'truncate' },
          visibleLine(`  ${pod}  ${age(ageSeconds)}  ${reason}`),
        ),
      ),
  ];
}

function helpLine({ sort, filter, isFiltering }: View): string {
  if (isFiltering) return `filter: ${filter}▏  Enter: keep   Esc: clear`;
  const filtered = filter === '' ? '' : `   filter: ${filter} (Esc clears)`;
  return `q quit   ↑↓ move   Enter fold   a fold all   s sort: ${sort}   / filter${filtered}`;
}

type InkKey = Parameters<Parameters<typeof useInput>[0]>[1];

const NAMED = [
  'up',
  'down',
  'pageUp',
  'pageDown',
  'home',
  'end',
  'return',
  'escape',
  'backspace',
] as const;

/** Keys that come at once are one input: each is taken by itself. */
function keysOf(input: string, key: InkKey): readonly Key[] {
  const names = {
    up: key.upArrow,
    down: key.downArrow,
    pageUp: key.pageUp,
    pageDown: key.pageDown,
    home: key.home,
    end: key.end,
    return: key.return,
    escape: key.escape,
    backspace: key.backspace || key.delete,
  } as const;
  const name = NAMED.find((each) => names[each]);
  if (name !== undefined) return [{ input, name }];
  return [...input].map(
    (each): Key => (each === '\r' ? { input: '', name: 'return' } : { input: each }),
  );
}

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The terminal's size, which a person may change at any time. */
function useSize(): Size {
  const { stdout } = useStdout();
  const read = (): Size => ({ columns: stdout.columns, rows: stdout.rows });
  const [size, setSize] = useState(read);
  useEffect(() => {
    const changed = (): void => setSize(read());
    stdout.on('resize', changed);
    return () => void stdout.off('resize', changed);
  });
  return size;
}

function Screen(options: ScreenOptions): ReactNode {
  const [view, setView] = useState<View>({ ...FIRST_VIEW, sort: options.sort ?? FIRST_VIEW.sort });
  const [, setCount] = useState(0);
  const { exit } = useApp();
  const { columns, rows } = useSize();
  useEffect(() => {
    const failed = (error: unknown): void =>
      exit(error instanceof Error ? error : new Error(String(error)));
    return options.follow(() => setCount((count) => count + 1), failed);
  }, [options, exit]);
  const { moment } = options.current();
  const lines = moment === undefined ? [] : linesOf(moment, view);
  // Several keys may come before the next picture: each goes on from what the one before left.
  const newest = useRef(view);
  useInput((input, key) => {
    for (const each of keysOf(input, key)) {
      const known = moment === undefined ? [] : linesOf(moment, newest.current);
      const next = afterKey(newest.current, each, known);
      if (next === 'quit') return exit();
      newest.current = next;
    }
    setView(newest.current);
  });
  const head = headLines(options);
  const foot = moment === undefined ? [] : pendingLines(moment);
  const height = Math.max(1, rows - head.length - foot.length - 3);
  const from = firstShown(view.cursor, lines.length, height);
  const shown = lines.slice(from, from + height);
  return h(
    Box,
    { flexDirection: 'column', width: columns, height: rows - 1 },
    ...head,
    h(Text, { key: 'titles', dimColor: true, wrap: 'truncate' }, titleLine(columns)),
    ...shown.map((each, at) =>
      line(String(from + at), piecesOf(each, columns), from + at === view.cursor),
    ),
    h(Box, { key: 'space', flexGrow: 1 }),
    ...foot,
    h(Text, { key: 'help', dimColor: true, wrap: 'truncate' }, visibleLine(helpLine(view))),
  );
}

/** Shows the screen until the person quits; throws the error that has ended it. */
export async function showScreen(options: ScreenOptions): Promise<void> {
  process.stdout.write(enterAlternativeScreen);
  try {
    await render(h(Screen, options), { exitOnCtrlC: true }).waitUntilExit();
  } finally {
    process.stdout.write(exitAlternativeScreen);
  }
}
