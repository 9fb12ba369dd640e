/**
 * Mutation testing of the core with StrykerJS: one change to the code at a time, and the suites of
 * `test/mutation/targets.ts` must notice. docs/decisions/0055-mutation-testing.md
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import {
  byFolder,
  type Listed,
  type MutationReport,
  markdown,
  type Outcome,
  outcomeOf,
  outdated,
} from '../test/mutation/report.ts';
import { TARGETS, type Target, targetsOf } from '../test/mutation/targets.ts';

const SCORE_MIN = 85;

const USAGE = `usage: npm run mutation -- [--concurrency N] [--fresh] [--last] [--write] [TARGET…]
Targets: ${Object.keys(TARGETS).join(', ')}, or
a folder of several; default: all.
  --concurrency  test runners at once, one by default
  --fresh        nothing is reused; else results hold where neither code nor tests have changed
  --last         no run: the results of the last one
  --write        writes bench/mutation.md; needs results of all targets
The exit code is 1 where a score is below ${SCORE_MIN} %.
`;

const ROOT = join(import.meta.dirname, '..');
const CACHE = '.cache/mutation';
const PAGE = 'bench/mutation.md';
const MARK = '<!-- npm run mutation -- --write -->\n';

const fileName = (name: string): string => `${CACHE}/${name.replace('/', '-')}`;
const incrementalFile = (name: string): string => `${fileName(name)}.incremental.json`;
const reportFile = (name: string): string => join(ROOT, `${fileName(name)}.json`);

/**
 * Two passes. In the first, mutants that tests reach run with those tests alone. In the second,
 * those that are reached while files are read run with all suites, unless they are dead by then.
 */
async function run(name: string, target: Target, concurrency: number): Promise<void> {
  for (const ignoreStatic of [true, false]) {
    forgetStaticSurvivors(incrementalFile(name));
    await pass(name, target, concurrency, ignoreStatic);
  }
}

async function pass(
  name: string,
  target: Target,
  concurrency: number,
  ignoreStatic: boolean,
): Promise<void> {
  process.env['JOINER_MUTATION_SUITES'] = JSON.stringify(target.suites);
  await new Stryker({
    testRunner: 'vitest',
    // Not Stryker's testFiles: with it mutants of a module's constants are switched on too late.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    mutate: [...target.mutate],
    concurrency,
    ignoreStatic,
    incremental: true,
    incrementalFile: incrementalFile(name),
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: `${fileName(name)}.json` },
    tempDirName: `${CACHE}/sandbox`,
    // What no suite of a target reads need not be copied.
    ignorePatterns: [
      'dist',
      'cdk.out',
      'cli',
      'functions',
      'headlamp-plugin',
      'infra',
      'bench',
      'docs',
      'examples',
    ],
    // TypeScript 7 cannot be asked to read a tsconfig; ours leads nowhere out of the sandbox.
    tsconfigFile: 'none.json',
    allowConsoleColors: false,
  }).runMutationTest();
}

/** Of what no single test reaches Stryker does not see that there is a new test: it has to run again. */
function forgetStaticSurvivors(path: string): void {
  const file = join(ROOT, path);
  if (!existsSync(file)) return;
  const known = readJson<MutationReport>(file);
  const files = Object.entries(known.files).map(([name, { mutants, ...rest }]) => {
    const kept = mutants.filter(
      (each) => each.status === 'Killed' || (each.static !== true && each.status !== 'NoCoverage'),
    );
    return [name, { ...rest, mutants: kept }];
  });
  writeFileSync(file, JSON.stringify({ ...known, files: Object.fromEntries(files) }));
}

function readJson<Value>(file: string): Value {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function told(name: string, { score, survivors, invalid }: Outcome): string {
  const unknown = survivors.filter(({ reason }) => reason === undefined);
  return [
    `${name}: ${score.toFixed(1)} %, ${survivors.length} survived, ${invalid} invalid\n`,
    ...unknown.map((each) => `  ${each.file}:${each.line} ${each.name}\n`),
  ].join('');
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      concurrency: { type: 'string', default: '1' },
      fresh: { type: 'boolean', default: false },
      last: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const names = positionals.length === 0 ? Object.keys(TARGETS) : positionals.flatMap(named);
  mkdirSync(join(ROOT, CACHE), { recursive: true });
  for (const name of names) {
    const target = TARGETS[name];
    if (target === undefined) continue;
    if (values.fresh) rmSync(join(ROOT, incrementalFile(name)), { force: true });
    if (!values.last) await run(name, target, Number(values.concurrency));
  }
  const listed = readJson<Listed>(join(ROOT, 'test/mutation/survivors.json'));
  const reports = names.map((name) => [name, readJson<MutationReport>(reportFile(name))] as const);
  for (const [, report] of reports) {
    for (const each of outdated(report, listed)) process.stdout.write(`not needed: ${each}\n`);
  }
  const outcomes = new Map(reports.map(([name, report]) => [name, outcomeOf(report, listed)]));
  for (const [folder, outcome] of byFolder(outcomes)) {
    process.stdout.write(told(folder, outcome));
    if (outcome.score < SCORE_MIN) process.exitCode = 1;
  }
  if (values.write) write(listed);
}

function named(name: string): readonly string[] {
  const found = targetsOf(name);
  if (found === undefined) throw new Error(`no target ${name}\n${USAGE}`);
  return found;
}

/** Whatever stands above the mark is written by hand. */
function write(listed: Listed): void {
  const missing = Object.keys(TARGETS).filter((name) => !existsSync(reportFile(name)));
  if (missing.length > 0) throw new Error(`no results of ${missing.join(', ')}`);
  const outcomes = Object.keys(TARGETS).map(
    (name) => [name, outcomeOf(readJson<MutationReport>(reportFile(name)), listed)] as const,
  );
  const [head = ''] = readFileSync(join(ROOT, PAGE), 'utf8').split(MARK);
  writeFileSync(join(ROOT, PAGE), `${head}${MARK}\n${markdown(new Map(outcomes))}`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
