#!/usr/bin/env node
/**
 * `joiner`, also as `kubectl joiner`: runs the command line under the project's own Node 24, which
 * reads TypeScript without a build. Plain JavaScript, so that any Node from 20 on can start it.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const own = join(
  root,
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);
const main = join(root, 'cli', 'main.ts');

if (Number(process.versions.node.split('.')[0]) >= 24) {
  const { main: run } = await import(main);
  await run(process.argv);
} else if (existsSync(own)) {
  const args = ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)];
  const child = spawn(own, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1;
    else {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
  });
} else {
  process.stderr.write('error: Node 24 is not installed here; run `npm ci` in the checkout\n');
  process.exitCode = 1;
}
