import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

const running = new Set<ChildProcess>();

// Nothing of a run that is cut short goes on without it.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(1));
}

/** Runs a program to its end, which is at the latest that of this process. */
export async function runChild(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<void> {
  const child = spawn(program, args, options);
  running.add(child);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  running.delete(child);
}
