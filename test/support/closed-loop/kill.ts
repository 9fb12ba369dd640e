import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { LoopFunction } from './functions.ts';

const SCRIPT = join(import.meta.dirname, 'doomed.ts');

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
    execFile(process.execPath, args, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL') return resolve({ kind: 'killed' });
      const calls = /\ncalls:\n(.*)$/s.exec(stdout)?.[1];
      if (calls !== undefined) return resolve({ kind: 'ended', calls: calls.trim().split('\n') });
      reject(new Error(`${name} failed: ${error?.message ?? ''}\n${stdout}\n${stderr}`));
    });
  });
}
