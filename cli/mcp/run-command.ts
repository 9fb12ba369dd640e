import { spawn } from 'node:child_process';

/** What a command of this program wrote, and its exit code. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line of this program; the signal stops it, and the answer is an error then. */
export type RunCommand = (words: readonly string[], signal: AbortSignal) => Promise<Ran>;

/** The longest commands, such as `backtest` of many recordings, take minutes. */
const PATIENCE_MS = 10 * 60_000;

export interface Running {
  /** What is before a command's words: a program and its arguments. @default this program */
  readonly program?: readonly string[];
  /** Stops every command. */
  readonly ended: AbortSignal;
  /** A command that takes longer is stopped. */
  readonly patienceMs?: number;
}

function thisProgram(): readonly string[] {
  const [, file = ''] = process.argv;
  return [process.execPath, ...process.execArgv, file];
}

/** In processes of their own: what they write is not mixed with the protocol on standard output. */
export function commandsUntil({ program, ended, patienceMs = PATIENCE_MS }: Running): RunCommand {
  return (words, asked) =>
    new Promise((resolve, reject) => {
      const [file = '', ...before] = program ?? thisProgram();
      const late = AbortSignal.timeout(patienceMs);
      const child = spawn(file, [...before, ...words], {
        stdio: ['ignore', 'pipe', 'pipe'],
        signal: AbortSignal.any([asked, ended, late]),
      });
      const written = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (chunk: string) => {
          written[name] += chunk;
        });
      }
      child.on('error', (error) => {
        const tooLong = `joiner ${words.join(' ')} did not end within ${patienceMs / 1000} s`;
        reject(late.aborted ? new Error(tooLong) : error);
      });
      child.on('close', (exitCode) => resolve({ exitCode: exitCode ?? 1, ...written }));
    });
}
