/**
 * Runs a TypeScript file under the project's own Node, whatever Node started it:
 * `node scripts/run.mjs FILE [ARGS…]`. Installs the dependencies first when they are missing or older
 * than the lock file. Plain JavaScript, because it runs before anything is installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownNode, placeNode } from '../cli/bin/own-node.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const windows = process.platform === 'win32';
const node = ownNode(root);

/** npm's note of what it installed: the same packages as the lock file, but for the root entry. */
function isInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed) || !existsSync(node)) return false;
  const has = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const wants = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(wants).every(
    ([path, { version, optional }]) =>
      path === '' || optional === true || has[path]?.version === version,
  );
}

function run(command, args, options) {
  const { status, signal, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (error !== undefined) throw error;
  if (signal !== null) process.kill(process.pid, signal);
  return status ?? 1;
}

function install() {
  process.stderr.write('Installing dependencies (once; about 20 s) …\n');
  const stdio = ['ignore', 2, 2];
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const status = run('npm', ['ci', ...quiet], { cwd: root, stdio, shell: windows });
  if (status !== 0 || !placeNode(root)) {
    process.stderr.write('error: npm ci failed; see its messages above\n');
    process.exit(1);
  }
}

if (!isInstalled()) install();
const [file, ...args] = process.argv.slice(2);
process.exitCode = run(node, ['--disable-warning=ExperimentalWarning', join(root, file), ...args], {
  env: {
    ...process.env,
    PATH: `${dirname(node)}${windows ? ';' : ':'}${process.env.PATH ?? ''}`,
  },
});
