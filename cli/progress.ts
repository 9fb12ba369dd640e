import { Option } from 'commander';

/** A terminal's line that is written over. */
interface Terminal {
  write(text: string): unknown;
}

/** Says how far a long command is, on one line that is written over. */
export interface Progress {
  /** What is done now; the text is made only where it is shown. */
  readonly say: (text: () => string) => void;
  /** Leaves an empty line for what comes next. */
  readonly end: () => void;
}

/** Real time between two lines. */
const EVERY_MS = 200;
/** To the line's start, and everything on it gone. */
const CLEAR = '\r\u001b[2K';

/** For pipes, and where people asked for quiet. */
const SILENT: Progress = { say: () => undefined, end: () => undefined };

/** What the option {@link quietOption} gives. */
export interface QuietOptions {
  readonly quiet?: boolean;
}

/** The option `--quiet` of a command that takes a while. */
export function quietOption(): Option {
  return new Option('-q, --quiet', 'show no progress on a terminal');
}

/** Progress on a terminal. Nothing is shown of what takes less than the time between two lines. */
export function progressTo(
  terminal: Terminal,
  nowMs: () => number = () => performance.now(),
): Progress {
  let nextMs = nowMs() + EVERY_MS;
  let isShown = false;
  return {
    say: (text) => {
      if (nowMs() < nextMs) return;
      nextMs = nowMs() + EVERY_MS;
      isShown = true;
      terminal.write(`${CLEAR}${text()}`);
    },
    end: () => {
      if (isShown) terminal.write(CLEAR);
      isShown = false;
    },
  };
}

/** Progress on stderr if that is a terminal, else none. */
export function progressOf({ quiet = false }: QuietOptions): Progress {
  return process.stderr.isTTY && !quiet ? progressTo(process.stderr) : SILENT;
}
