import { describe, expect, it } from 'vitest';
import { readExceptions } from '../../karpenter/exceptions.ts';
import { readResults } from '../../karpenter/results.ts';
import { SUITES } from '../../karpenter/suites.ts';
import { table, tableOnPage } from '../../karpenter/table.ts';

const results = readResults();
const exceptions = readExceptions();
const names = SUITES.map(({ name }) => name);

describe("the results of Karpenter's suites", () => {
  it('are on the page as they were written down', () => {
    expect(tableOnPage()).toBe(table(results, exceptions));
  });

  it('are of suites that there are', () => {
    const known = (name: string): boolean => names.includes(name);
    expect(Object.keys(results).filter((name) => !known(name))).toEqual([]);
    expect(exceptions.flatMap(({ suites }) => suites).filter((name) => !known(name))).toEqual([]);
  });

  it('name no case twice for one suite', () => {
    const all = exceptions.flatMap(({ suites, cases }) =>
      suites.flatMap((suite) => cases.map((name) => `${suite}: ${name}`)),
    );
    expect(all.filter((each, at) => all.indexOf(each) !== at)).toEqual([]);
  });

  it.each(Object.entries(results))('add up for %s', (suite, counts) => {
    const own = exceptions.filter(({ suites }) => suites.includes(suite));
    const named = (isSometimes: boolean): number =>
      own
        .filter(({ sometimes }) => (sometimes === true) === isSometimes)
        .reduce((sum, { cases }) => sum + cases.length, 0);
    expect(counts.passed + counts.skipped + counts.excepted).toBe(counts.cases);
    expect(counts.excepted).toBeGreaterThanOrEqual(named(false));
    expect(counts.excepted).toBeLessThanOrEqual(named(false) + named(true));
  });
});
