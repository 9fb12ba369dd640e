import { meantFile } from './meant-file.ts';
import { writeErr } from './terminal.ts';

/** Bad input: every problem on a line of its own, exit code 2. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** The system's errors in words. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder',
  ENOTDIR: 'is a file, not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/**
 * Of a file or folder that could not be read: what is wrong with it, by the system's error. Where
 * it is the one and not the other, `expected` says what is valid.
 */
export function unreadable(file: string, error: unknown, expected?: string): BadInput {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  const why = WORDS[code] ?? code;
  const near = code === 'ENOENT' ? meantFile(file) : '';
  const isOther = expected !== undefined && (code === 'EISDIR' || code === 'ENOTDIR');
  return new BadInput([`${file}: ${why}${near}${isOther ? `; expected ${expected}` : ''}`]);
}

/** Exit code of bad usage and bad input; 0 is done, 1 the thing asked failed. */
export const BAD_INPUT = 2;

/** Problems of options and files, gathered so that all are told at once. */
export class Problems {
  private readonly list: string[] = [];

  add(problem: string): void {
    this.list.push(problem);
  }

  /** What the work returns; its BadInput is kept for later and gives undefined. */
  collect<Value>(work: () => Value): Value | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      this.list.push(...error.problems);
      return undefined;
    }
  }

  /** The value, now that it is needed: throws everything gathered if there is anything. */
  checked<Value>(value: Value | undefined): Value {
    if (this.list.length > 0 || value === undefined) throw new BadInput(this.list);
    return value;
  }
}

/** Runs a command's work; what is wrong with its input goes to stderr, and the exit code says so. */
export async function reporting(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    for (const problem of error.problems) writeErr(`error: ${problem}\n`);
    process.exitCode = BAD_INPUT;
  }
}
