#!/usr/bin/env node
/**
 * `joiner`, also as `kubectl joiner`: runs the command line under Node 24, the project's own where the
 * one that started it is older. Plain JavaScript, so that any Node from 20 on can start it.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ownNode, placeNode } from './own-node.mjs';

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(dirname(self)));

/** Under Node 24: the bundle where there is one, else the sources, which Node reads as they are. */
async function here() {
  const { commandOf } = await import('./bundle.mjs');
  const { main } = await import(pathToFileURL(await commandOf(root)).href);
  await main(process.argv);
}

/** This file again under the project's own Node, with its signals and its exit code. */
function below(node) {
  // Half of V8's nursery: what lives shortly takes 15 MB less, and no more time.
  const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8'];
  const args = [...flags, self, ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1;
    else {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
  });
}

if (Number(process.versions.node.split('.')[0]) >= 24) await here();
else if (existsSync(ownNode(root)) || placeNode(root)) below(ownNode(root));
else {
  process.stderr.write('error: Node 24 is not installed here; run `npm ci` in the checkout\n');
  process.exitCode = 1;
}
