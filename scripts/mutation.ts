/**
 * Mutation testing of the core: `npm run mutation -- [--concurrency N] [--fresh] [TARGET…]`.
 * StrykerJS changes one expression at a time and runs the suites of `test/mutation/folders.ts`; a
 * mutant that no test notices survives. Results of earlier runs are kept in `.cache/mutation` and
 * reused where neither the code nor its tests changed, unless `--fresh`.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { TARGETS, type Target } from '../test/mutation/folders.ts';

const root = join(import.meta.dirname, '..');
const CACHE = '.cache/mutation';

async function run(name: string, target: Target, concurrency: number, fresh: boolean) {
  process.env['JOINER_MUTATION_SUITES'] = target.suites.join();
  const incrementalFile = `${CACHE}/${name}.incremental.json`;
  if (fresh) rmSync(join(root, incrementalFile), { force: true });
  await new Stryker({
    testRunner: 'vitest',
    // Not Stryker's testFiles: with it mutants of module constants are switched on too late.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    mutate: [...target.mutate],
    concurrency,
    incremental: true,
    incrementalFile,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: `${CACHE}/${name}.json` },
    tempDirName: `${CACHE}/sandbox`,
    ignorePatterns: ['dist', 'cdk.out', 'bench', 'docs', 'infra'],
    // TypeScript 7 has no API for reading a tsconfig, and nothing in ours leads out of the sandbox.
    tsconfigFile: 'none.json',
    allowConsoleColors: false,
  }).runMutationTest();
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string', default: '1' },
    fresh: { type: 'boolean', default: false },
  },
});
mkdirSync(join(root, CACHE), { recursive: true });
for (const name of positionals.length === 0 ? Object.keys(TARGETS) : positionals) {
  const target = TARGETS[name];
  if (target === undefined)
    throw new Error(`no target ${name}; ${Object.keys(TARGETS).join(', ')}`);
  await run(name, target, Number(values.concurrency), values.fresh);
}
