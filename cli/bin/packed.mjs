#!/usr/bin/env node
/**
 * `eks-joiner` of the npm package, where it stands in the place of joiner.mjs: the command line is
 * built already, and runs under the Node that starts it.
 */
import * as module from 'node:module';

if (typeof process.getBuiltinModule === 'function') {
  // From Node 22 on: what V8 has compiled is kept for the next run.
  module.enableCompileCache?.();
  await import('./older-node.mjs');
  const { main } = await import(new URL('../bundle/main.mjs', import.meta.url).href);
  await main(process.argv);
} else {
  process.stderr.write(`error: eks-joiner needs Node 20.16 or newer, this is ${process.version}\n`);
  process.exitCode = 1;
}
