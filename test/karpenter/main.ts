/**
 * Karpenter's own suites with Joiner inside: `npm run test:karpenter -- [SUITE …] [options]`.
 * Without names it runs all of them. CONTRIBUTING.md has the options.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findAssets } from '../support/control-plane/assets.ts';
import { lastOutcomes, runEndToEndSuite } from './end-to-end.ts';
import { readExceptions } from './exceptions.ts';
import { faultsOf, judge, lines, type Verdict } from './judge.ts';
import { CORE, goVersion, moduleCopy } from './module.ts';
import type { CaseOutcome } from './report.ts';
import { readResults, writeResults } from './results.ts';
import { SUITES, type Suite } from './suites.ts';
import { table, writeTable } from './table.ts';
import { casesAsked, lastRun, runUnitSuite } from './unit.ts';

const USAGE = `usage: npm run test:karpenter -- [SUITE | unit | end-to-end …] [options]
  --list          the suites that there are
  --ci            the part that CI runs
  --focus TEXT    only cases that match
  --workers N     end to end: worlds side by side (2)
  --continue      end to end: cases that have an outcome keep it
  --last          judges the reports of the last whole runs again
  --write-table   puts the results of whole suites into docs/compatibility.md
  --stock         nothing of Joiner's in Karpenter's place
  --case TEXT     what Joiner was asked in the last run's cases that match
  --counts FILE   writes the counts there
`;

const OPTIONS = {
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    /** The part that CI runs. */
    ci: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    /** Only cases that match. */
    focus: { type: 'string' },
    /** Nothing of Joiner's in Karpenter's place. */
    stock: { type: 'boolean', default: false },
    /** Judges the reports of the last whole runs again. */
    last: { type: 'boolean', default: false },
    /** End to end: worlds side by side. */
    workers: { type: 'string', default: '2' },
    /** End to end: cases that have an outcome already keep it. */
    continue: { type: 'boolean', default: false },
    /** Prints what Joiner was asked in the last run's cases that match. */
    case: { type: 'string' },
    /** Puts the results of whole suites into results.json and docs/compatibility.md. */
    'write-table': { type: 'boolean', default: false },
    /** A file for the counts. */
    counts: { type: 'string' },
  },
} as const;

function refuse(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}

function asked() {
  try {
    return parseArgs(OPTIONS);
  } catch (error) {
    return refuse(error);
  }
}

const { values, positionals } = asked();

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Names of suites, `unit` and `end-to-end`. */
function chosen(): readonly Suite[] {
  const asked = new Set(positionals);
  const kinds = new Set<string>(SUITES.map(({ kind }) => kind));
  const names = new Set(SUITES.map(({ name }) => name));
  const unknown = positionals.filter((each) => !kinds.has(each) && !names.has(each));
  if (unknown.length > 0) refuse(`no such suite: ${unknown.join(', ')}; see --list`);
  return SUITES.filter((suite) => {
    if (values.ci && ciOf(suite) === false) return false;
    return positionals.length === 0 || asked.has(suite.name) || asked.has(suite.kind);
  });
}

function ciOf(suite: Suite): boolean | RegExp {
  return suite.kind === 'unit' ? suite.ci : false;
}

function focusOf(suite: Suite): RegExp | undefined {
  if (values.focus !== undefined) return new RegExp(values.focus);
  const part = ciOf(suite);
  return values.ci && part instanceof RegExp ? part : undefined;
}

/** Why the suites cannot be run here; undefined: they can. */
async function missing(): Promise<string | undefined> {
  if ((await goVersion()) === undefined) return 'Go is not installed';
  const assets = await findAssets();
  if (assets.kind === 'absent') return assets.reason;
  try {
    await moduleCopy(CORE);
    return undefined;
  } catch (cause) {
    const isNeeded = process.env['CI'] !== undefined || process.env['JOINER_REQUIRE_E2E'] === '1';
    if (isNeeded) throw new Error("Karpenter's module cannot be had", { cause });
    return `Karpenter's module cannot be had: ${String(cause).split('\n')[0]}`;
  }
}

async function outcomesOf(suite: Suite): Promise<readonly CaseOutcome[]> {
  const assets = await findAssets();
  if (assets.kind === 'absent') throw new Error(assets.reason);
  const focus = focusOf(suite);
  if (suite.kind === 'unit') {
    const run = { assets: assets.folder, focus, isStock: values.stock };
    return values.last ? await lastRun(suite.name) : await runUnitSuite(suite, run);
  }
  if (values.last) return await lastOutcomes(suite.name);
  return await runEndToEndSuite(suite, {
    focus,
    workers: Number(values.workers),
    continues: values.continue,
    unplayed: new Set(unplayedOf(suite)),
    told: ({ name, state, seconds }) => say(`${state} ${seconds} s ${name}`),
  });
}

function unplayedOf(suite: Suite): readonly string[] {
  return readExceptions()
    .filter(({ suites, unplayed }) => unplayed === true && suites.includes(suite.name))
    .flatMap(({ cases }) => cases);
}

async function runSuite(suite: Suite): Promise<Verdict> {
  const start = performance.now();
  const outcomes = await outcomesOf(suite);
  const exceptions = values.stock ? [] : readExceptions();
  const verdict = judge(suite.name, outcomes, exceptions, focusOf(suite) === undefined);
  const seconds = Math.round((performance.now() - start) / 1000);
  say([...lines(verdict), `  ${seconds} s`].join('\n'));
  return verdict;
}

/** Unit suites that run beside each other: each keeps a core and a half busy. */
const BESIDE = 2;

/** Unit suites begin with the last of the list, which take longest; those end to end go alone. */
async function verdictsOf(suites: readonly Suite[]): Promise<readonly Verdict[]> {
  const verdicts = new Map<Suite, Verdict>();
  const waiting = suites.filter(({ kind }) => kind === 'unit');
  const inTurn = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      verdicts.set(next, await runSuite(next));
    }
  };
  await Promise.all(Array.from({ length: BESIDE }, inTurn));
  for (const suite of suites.filter(({ kind }) => kind !== 'unit')) {
    verdicts.set(suite, await runSuite(suite));
  }
  return suites.flatMap((suite) => verdicts.get(suite) ?? []);
}

async function main(): Promise<void> {
  if (values.help) {
    say(USAGE);
    return;
  }
  if (values.list) {
    for (const { kind, name, title } of SUITES) say(`${name} (${kind}): ${title}`);
    return;
  }
  if (values.case !== undefined) {
    for (const each of await casesAsked(positionals[0] ?? '', new RegExp(values.case))) say(each);
    return;
  }
  const suites = chosen();
  const isPart = suites.some((suite) => focusOf(suite) !== undefined) || values.stock;
  if (values['write-table'] && isPart) refuse('--write-table takes whole suites');
  let verdicts: readonly Verdict[] = [];
  const outcome = { passed: 0, failed: 0, skipped: 0 };
  const reason = await missing();
  if (reason !== undefined) {
    process.stderr.write(`skipped: Karpenter's suites: ${reason}\n`);
    outcome.skipped += suites.length;
  } else {
    verdicts = await verdictsOf(suites);
    for (const verdict of verdicts) {
      outcome.passed += verdict.passed;
      outcome.failed += faultsOf(verdict);
      outcome.skipped += verdict.skipped + verdict.excepted;
    }
  }
  if (values.counts !== undefined) writeFileSync(values.counts, JSON.stringify(outcome));
  if (values['write-table']) {
    writeResults(verdicts);
    writeTable(table(readResults(), readExceptions()));
  }
  process.exitCode = outcome.failed === 0 ? 0 : 1;
}

await main();
