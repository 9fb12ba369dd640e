/**
 * Everything that must hold, as CI runs it: types, lint, the tests of every project, and a part of
 * Karpenter's own suites. Arguments are handed to vitest (`npm test -- test/unit`), and then only
 * those tests run. The last line is `N passed, N failed[, N skipped]`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
}

const root = join(import.meta.dirname, '..');
const bin = (name: string): string => join(root, 'node_modules', '.bin', name);

function check(title: string, command: string, args: readonly string[], outcome: Outcome): void {
  process.stderr.write(`\n── ${title}\n`);
  const { status } = spawnSync(bin(command), args, { cwd: root, stdio: 'inherit' });
  if (status === 0) outcome.passed++;
  else outcome.failed++;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numFailedTestSuites: number;
  readonly success: boolean;
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
  }[];
}

const SLOWEST = 15;

/** What a run that takes too long spends its time on: the slowest files, and the kinds of tests. */
function tellSlowest({ testResults }: Report): void {
  const files = testResults.map(({ name, startTime, endTime }) => ({
    name: relative(root, name),
    seconds: (endTime - startTime) / 1000,
  }));
  const kinds = [...Map.groupBy(files, ({ name }) => name.split('/').slice(0, 2).join('/'))].map(
    ([name, own]) => ({ name, seconds: own.reduce((sum, { seconds }) => sum + seconds, 0) }),
  );
  const slowest = (of: typeof files) => of.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  for (const { name, seconds } of [...slowest(files), ...slowest(kinds)]) {
    process.stderr.write(`${seconds.toFixed(0).padStart(5)} s  ${name}\n`);
  }
}

/** vitest's JSON report beside its own output; a run without a report is a failure. */
function vitest(args: readonly string[], outcome: Outcome): void {
  process.stderr.write('\n── tests\n');
  const folder = mkdtempSync(join(tmpdir(), 'joiner-test-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
  const { status } = spawnSync(bin('vitest'), ['run', ...reporters, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    if (report.testResults.length > SLOWEST) tellSlowest(report);
    outcome.passed += report.numPassedTests;
    outcome.skipped += report.numPendingTests + report.numTodoTests;
    // A suite that cannot be loaded has no failed test, but the run has failed.
    outcome.failed += Math.max(report.numFailedTests, status === 0 ? 0 : 1);
  } catch {
    outcome.failed++;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The part of Karpenter's own suites that runs everywhere; without Go it is skipped. */
function karpenter(outcome: Outcome): void {
  process.stderr.write("\n── Karpenter's suites\n");
  const folder = mkdtempSync(join(tmpdir(), 'joiner-test-'));
  const file = join(folder, 'counts.json');
  const main = join(root, 'test/karpenter/main.ts');
  spawnSync(process.execPath, [main, '--ci', '--counts', file], { cwd: root, stdio: 'inherit' });
  try {
    const counts = JSON.parse(readFileSync(file, 'utf8')) as Outcome;
    outcome.passed += counts.passed;
    outcome.failed += counts.failed;
    outcome.skipped += counts.skipped;
  } catch {
    outcome.failed++;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
const outcome: Outcome = { passed: 0, failed: 0, skipped: 0 };
if (args.length === 0) {
  check('types', 'tsc', ['-p', 'tsconfig.json'], outcome);
  check('types of the core, without Node', 'tsc', ['-p', 'shared/core/tsconfig.json'], outcome);
  check('lint and format', 'biome', ['check', '--error-on-warnings', '.'], outcome);
}
vitest(args, outcome);
if (args.length === 0) karpenter(outcome);
const skipped = outcome.skipped === 0 ? '' : `, ${outcome.skipped} skipped`;
process.stdout.write(`\n${outcome.passed} passed, ${outcome.failed} failed${skipped}\n`);
process.exitCode = outcome.failed === 0 ? 0 : 1;
