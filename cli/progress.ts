import { Option } from 'commander';
import { visibleLine } from './terminal.ts';

/** A terminal's line that is written over. */
interface Terminal {
  write(text: string): unknown;
}

/** Says how far a long command is, on one line that is written over. */
export interface Progress {
  /** How far a part is; the text is made only where it is shown, five times a second at most. */
  readonly say: (text: () => string) => void;
  /** A part begins that may say nothing before it ends: it is shown at once. */
  readonly begin: (text: string) => void;
  /** Leaves an empty line for what comes next. */
  readonly end: () => void;
}

/** Real time between two lines. */
const EVERY_MS = 200;
/** To the line's start, and everything on it gone. */
const CLEAR = '\r\u001b[2K';

/** For pipes, and where people asked for quiet. */
const SILENT: Progress = {
  say: () => undefined,
  begin: () => undefined,
  end: () => undefined,
};

/** What the option {@link quietOption} gives. */
export interface QuietOptions {
  readonly quiet?: boolean;
}

/** The option `--quiet` of a command that takes a while. */
export function quietOption(): Option {
  return new Option('-q, --quiet', 'show no progress on a terminal');
}

/** Progress on a terminal. */
export function progressTo(
  terminal: Terminal,
  nowMs: () => number = () => performance.now(),
): Progress {
  let nextMs = nowMs() + EVERY_MS;
  let isShown = false;
  const show = (text: string): void => {
    nextMs = nowMs() + EVERY_MS;
    isShown = true;
    terminal.write(`${CLEAR}${visibleLine(text)}`);
  };
  return {
    say: (text) => {
      if (nowMs() >= nextMs) show(text());
    },
    begin: show,
    end: () => {
      if (isShown) terminal.write(CLEAR);
      isShown = false;
    },
  };
}

/** Whether somebody looks at stderr: what is said there for people only goes to nobody else. */
export function isWatched({ quiet = false }: QuietOptions): boolean {
  return process.stderr.isTTY && !quiet;
}

/** Lets it work with progress on stderr if that is a terminal; the line is gone when it ends. */
export async function withProgress<Value>(
  options: QuietOptions,
  work: (progress: Progress) => Value | Promise<Value>,
): Promise<Value> {
  const progress = isWatched(options) ? progressTo(process.stderr) : SILENT;
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}
