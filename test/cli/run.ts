import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import { main } from '../../cli/main.ts';

export interface Answer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process, as `./joiner …` would. */
export async function joiner(...args: readonly string[]): Promise<Answer> {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      written[name] += String(chunk);
      return true;
    }),
  );
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await main(['node', 'joiner', ...args]);
    return { exitCode: Number(process.exitCode), ...written };
  } finally {
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
  }
}

/** A folder with these files, as long as the work runs. */
export async function inFolder<Value>(
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-cli-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
