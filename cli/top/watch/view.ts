import { enterAlternativeScreen, exitAlternativeScreen } from 'ansi-escapes';
import { Box, render, Text, useApp, useInput, useStdout } from 'ink';
import { createElement as h, type ReactNode, useEffect, useRef, useState } from 'react';
import { visibleLine } from '../../terminal.ts';
import type { Sort } from '../rows.ts';
import type { Look } from './columns.ts';
import { type Feed, pictureOf, type ScreenLine, type Size } from './picture.ts';
import { afterKey, FIRST_VIEW, type Key, linesOf, type View } from './screen.ts';

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

/** Cut at the screen's edge: a line that went on below would be written over the next one. */
function line(key: string, { pieces, isChosen }: ScreenLine): ReactNode {
  const texts = pieces.map(({ text, look }, at) =>
    h(Text, { key: at, ...STYLES[look] }, visibleLine(text)),
  );
  return h(Text, { key, inverse: isChosen, wrap: 'truncate' }, ...texts);
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
  const size = { columns, rows };
  const { above, below } = pictureOf(options.title, options.current(), view, size);
  return h(
    Box,
    { flexDirection: 'column', width: columns, height: Math.max(1, rows - 1) },
    ...above.map((each, at) => line(`above ${at}`, each)),
    h(Box, { key: 'space', flexGrow: 1 }),
    ...below.map((each, at) => line(`below ${at}`, each)),
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
