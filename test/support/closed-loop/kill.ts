import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { LoopFunction } from './functions.ts';

const SCRIPT = join(import.meta.dirname, 'doomed.ts');
const COMMAND_SCRIPT = join(import.meta.dirname, 'doomed-command.ts');

export interface Kill {
  readonly name: LoopFunction;
  readonly event?: object;
  /** Of the clock that the process goes by, ahead of the machine's. */
  readonly offsetMs: number;
  /** The first call that matches: `PATCH /api/v1/nodes/`, `CreateFleet`. */
  readonly call: RegExp;
  readonly when: 'before' | 'after';
}

/** How it ended; `calls` where it did not die. */
export type Death =
  | { readonly kind: 'killed' }
  | { readonly kind: 'ended'; readonly calls: readonly string[] };

/** Runs a function in a process of its own, which kills itself at one of its calls. */
export function runDoomed({ name, event = {}, offsetMs, call, when }: Kill): Promise<Death> {
  const args = [SCRIPT, name, JSON.stringify(event), String(offsetMs), call.source, when];
  const env = { ...process.env, JOINER_FUNCTION: name };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env, timeout: 180_000 }, (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL') return resolve({ kind: 'killed' });
      const calls = /\ncalls:\n(.*)$/s.exec(stdout)?.[1];
      if (calls !== undefined) return resolve({ kind: 'ended', calls: calls.trim().split('\n') });
      reject(new Error(`${name} failed: ${error?.message ?? ''}\n${stdout}\n${stderr}`));
    });
  });
}

export interface CommandRun {
  readonly args: readonly string[];
  readonly offsetMs: number;
  /** Undefined: it is left to end by itself. */
  readonly kill?: { readonly call: RegExp; readonly when: Kill['when'] };
}

export type CommandEnd =
  | { readonly kind: 'killed' }
  | {
      readonly kind: 'ended';
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
    };

const COMMAND_MS_MAX = 180_000;

/** Runs a command line in a process of its own, which may kill itself at one of its calls. */
export function runCommand({ args, offsetMs, kill }: CommandRun): Promise<CommandEnd> {
  const { call = /(?:)/, when = 'before' } = kill ?? {};
  const pattern = kill === undefined ? '' : call.source;
  const argv = [COMMAND_SCRIPT, JSON.stringify(args), String(offsetMs), pattern, when];
  return new Promise((resolve) => {
    const options = { env: process.env, timeout: COMMAND_MS_MAX };
    execFile(process.execPath, argv, options, (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL') return resolve({ kind: 'killed' });
      const exitCode = typeof error?.code === 'number' ? error.code : 0;
      resolve({ kind: 'ended', exitCode, stdout, stderr });
    });
  });
}
