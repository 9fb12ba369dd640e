import { expect, it } from 'vitest';
import type { Exception } from '../../karpenter/exceptions.ts';
import { faultsOf, judge, lines } from '../../karpenter/judge.ts';
import type { CaseOutcome } from '../../karpenter/report.ts';

const outcome = (name: string, state: CaseOutcome['state']): CaseOutcome => {
  return { name, state, seconds: 1, message: state === 'failed' ? 'a_test.go:7 no' : '' };
};

const exception = (cases: readonly string[], more: Partial<Exception> = {}): Exception => {
  return { suites: ['s'], class: 'purpose', reason: 'because', cases: [...cases], ...more };
};

it.each<{
  readonly title: string;
  readonly outcomes: readonly CaseOutcome[];
  readonly exceptions: readonly Exception[];
  readonly isWhole?: boolean;
  readonly faults: number;
}>([
  { title: 'a case passes', outcomes: [outcome('a', 'passed')], exceptions: [], faults: 0 },
  { title: 'a case fails', outcomes: [outcome('a', 'failed')], exceptions: [], faults: 1 },
  {
    title: 'a case fails as an exception says',
    outcomes: [outcome('a', 'failed')],
    exceptions: [exception(['a'])],
    faults: 0,
  },
  {
    title: 'the exception is of another suite',
    outcomes: [outcome('a', 'failed')],
    exceptions: [exception(['a'], { suites: ['t'] })],
    faults: 1,
  },
  {
    title: 'a case passes, and an exception says that it does not',
    outcomes: [outcome('a', 'passed')],
    exceptions: [exception(['a'])],
    faults: 1,
  },
  {
    title: 'a case passes that does so sometimes',
    outcomes: [outcome('a', 'passed')],
    exceptions: [exception(['a'], { sometimes: true })],
    faults: 0,
  },
  {
    title: 'an exception names a case that the suite has no more',
    outcomes: [outcome('a', 'passed')],
    exceptions: [exception(['b'])],
    faults: 1,
  },
  {
    title: 'an exception names a case that was not to run',
    outcomes: [outcome('a', 'passed')],
    exceptions: [exception(['b'])],
    isWhole: false,
    faults: 0,
  },
])('$title: $faults wrong', ({ outcomes, exceptions, isWhole = true, faults }) => {
  expect(faultsOf(judge('s', outcomes, exceptions, isWhole))).toBe(faults);
});

it('says which cases are wrong', () => {
  const outcomes = [outcome('a', 'failed'), outcome('b', 'passed'), outcome('c', 'skipped')];
  const verdict = judge('s', outcomes, [exception(['b', 'd'])], true);
  expect(lines(verdict)).toEqual([
    's: 1 passed, 0 as exceptions.json says, 1 skipped, 3 wrong',
    '  fails: a',
    '    a_test.go:7 no',
    '  passes now, take it from exceptions.json: b',
    '  in exceptions.json and not in the suite: d',
  ]);
});
