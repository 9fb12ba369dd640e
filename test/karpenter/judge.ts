import type { Exception } from './exceptions.ts';
import type { CaseOutcome } from './report.ts';

/** What a run of a suite says, after the exceptions. */
export interface Verdict {
  readonly suite: string;
  readonly passed: number;
  /** The suite's own skips. */
  readonly skipped: number;
  /** Did not pass, with a reason. */
  readonly excepted: number;
  /** Failed, and no exception names them. */
  readonly unexplained: readonly CaseOutcome[];
  /** An exception names them, and they pass. */
  readonly unexpected: readonly string[];
  /** An exception names them, and the suite has no such case. */
  readonly unknown: readonly string[];
}

/** Judges the cases of a suite that ran; `isWhole`: all of them did. */
export function judge(
  suite: string,
  outcomes: readonly CaseOutcome[],
  exceptions: readonly Exception[],
  isWhole: boolean,
): Verdict {
  const own = exceptions.filter((each) => each.suites.includes(suite));
  const named = new Map(own.flatMap((each) => each.cases.map((name) => [name, each] as const)));
  const ran = new Set(outcomes.map(({ name }) => name));
  const failed = outcomes.filter(({ state }) => state === 'failed');
  const passed = outcomes.filter(({ state }) => state === 'passed');
  return {
    suite,
    passed: passed.length,
    skipped: outcomes.filter(({ state }) => state === 'skipped').length,
    excepted: failed.filter(({ name }) => named.has(name)).length,
    unexplained: failed.filter(({ name }) => !named.has(name)),
    unexpected: passed
      .map(({ name }) => name)
      .filter((name) => named.has(name) && named.get(name)?.sometimes !== true),
    unknown: isWhole ? [...named.keys()].filter((name) => !ran.has(name)) : [],
  };
}

/** How many things are wrong. */
export function faultsOf({ unexplained, unexpected, unknown }: Verdict): number {
  return unexplained.length + unexpected.length + unknown.length;
}

const LINES_MAX = 6;

/** A verdict for people: one line, and what is wrong below it. */
export function lines(verdict: Verdict): readonly string[] {
  const { suite, passed, skipped, excepted, unexplained, unexpected, unknown } = verdict;
  const counts = `${passed} passed, ${excepted} as exceptions.json says, ${skipped} skipped`;
  return [
    `${suite}: ${counts}, ${faultsOf(verdict)} wrong`,
    ...unexplained.flatMap(({ name, message }) => [
      `  fails: ${name}`,
      ...message
        .split('\n')
        .slice(0, LINES_MAX)
        .map((line) => `    ${line}`),
    ]),
    ...unexpected.map((name) => `  passes now, take it from exceptions.json: ${name}`),
    ...unknown.map((name) => `  in exceptions.json and not in the suite: ${name}`),
  ];
}
