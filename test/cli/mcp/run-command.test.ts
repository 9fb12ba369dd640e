import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandsUntil } from '../../../cli/mcp/run-command.ts';
import { inFolder } from '../run.ts';

const NEVER = new AbortController().signal;

/** A program that writes its process id to the file that it is given, and does not end. */
const ENDLESS = [
  process.execPath,
  '-e',
  'require("node:fs").writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1e6)',
];

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('answers with what was written and the exit code', async () => {
  const code = 'console.log(process.argv[1]); console.error("oh"); process.exitCode = 3';
  const run = commandsUntil({ program: [process.execPath, '-e', code], ended: NEVER });
  expect(await run(['plan'], NEVER)).toEqual({ exitCode: 3, stdout: 'plan\n', stderr: 'oh\n' });
});

it.each(['the question is cancelled', 'the server ends'])('stops when %s', async (why) => {
  await inFolder({}, async (folder) => {
    const stop = new AbortController();
    const file = join(folder, 'pid');
    const isCancelled = why.includes('cancelled');
    const run = commandsUntil({ program: ENDLESS, ended: isCancelled ? NEVER : stop.signal });
    const ran = run([file], isCancelled ? stop.signal : NEVER).catch(() => 'stopped');
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBeTruthy();
    const pid = Number(readFileSync(file, 'utf8'));
    expect(runs(pid)).toBe(true);
    stop.abort();
    expect(await ran).toBe('stopped');
    await expect.poll(() => runs(pid)).toBe(false);
  });
});

it('stops what takes too long, and says so', async () => {
  await inFolder({}, async (folder) => {
    const run = commandsUntil({ program: ENDLESS, ended: NEVER, patienceMs: 100 });
    await expect(run([join(folder, 'pid')], NEVER)).rejects.toThrow('did not end within 0.1 s');
  });
});
