import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { faultsOf, type Verdict } from './judge.ts';

const result = z.strictObject({
  cases: z.int().min(0),
  passed: z.int().min(0),
  /** The suite's own skips. */
  skipped: z.int().min(0),
  /** Did not pass, and exceptions.json says why. */
  excepted: z.int().min(0),
});

/** Counts of the last whole run of a suite that was written down. */
export type Result = Readonly<z.output<typeof result>>;

const FILE = join(import.meta.dirname, 'results.json');

export function readResults(): Readonly<Record<string, Result>> {
  return z.record(z.string(), result).parse(JSON.parse(readFileSync(FILE, 'utf8')));
}

/** Whole runs replace what is there; one with something wrong stays out, and an error says so. */
export function writeResults(verdicts: readonly Verdict[]): void {
  const wrong = verdicts.filter((each) => faultsOf(each) > 0).map(({ suite }) => suite);
  const results: Record<string, Result> = { ...readResults() };
  for (const { suite, passed, skipped, excepted } of verdicts) {
    if (wrong.includes(suite)) continue;
    results[suite] = { cases: passed + skipped + excepted, passed, skipped, excepted };
  }
  const sorted = Object.fromEntries(Object.entries(results).sort());
  writeFileSync(FILE, `${JSON.stringify(sorted, undefined, 2)}\n`);
  if (wrong.length > 0) throw new Error(`not written, as something is wrong: ${wrong.join(', ')}`);
}
