import { describe, expect, it } from 'vitest';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { attemptOf } from '../../../shared/core/scheduling/attempt.ts';
import { attempts, Known } from '../../../shared/core/scheduling/attempts.ts';
import {
  budgetsOf,
  type CombiningBudget,
  type StepBudgets,
} from '../../../shared/core/scheduling/effort.ts';
import { grown } from '../../../shared/core/scheduling/one-attempt.ts';
import { Relaxations } from '../../../shared/core/scheduling/packing/pod-values.ts';
import { improved } from '../../../shared/core/scheduling/placing/improve.ts';
import { merged } from '../../../shared/core/scheduling/placing/merge.ts';
import { PlanSteps } from '../../../shared/core/scheduling/plan-steps.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { SearchContext } from '../../../shared/core/scheduling/search/search-state.ts';
import { GI, podsOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

/** As many as are wanted. */
const any = () => new PlanSteps(Number.POSITIVE_INFINITY);

const TYPES = [2, 4, 8].flatMap((perCpu, family) =>
  [4, 8, 16, 32].map((cpu) =>
    typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, cpu * (0.02 + 0.006 * perCpu)),
  ),
);

/** Pods of 20 odd shapes, so many of each. */
function contextOf(count: number): SearchContext {
  const pods = Array.from({ length: 20 }, (_, at) => {
    const memory = (2 + ((at * 7) % 19)) * GI;
    return podsOf(count, `s${at}`, { cpu: 700 + 410 * ((at * 3) % 17), memory });
  }).flat();
  const problem = compileProblem(snapshotOf({ types: TYPES, pods }), DEFAULT_SCHEDULING_SETTINGS);
  return new SearchContext(problem, { kinds: new Set() });
}

function only(budgets: readonly StepBudgets[]): StepBudgets {
  const [first] = budgets;
  if (first === undefined) throw new Error('an effort has budgets');
  return first;
}

const NORMAL = only(budgetsOf('normal'));
const { improving, merging, combining } = NORMAL;
if (improving === undefined || merging === undefined || combining === undefined) {
  throw new Error('a normal effort improves, merges and combines');
}

/** Every number of the budgets by its path. */
function numbersIn(value: unknown, path = ''): readonly (readonly [string, number])[] {
  if (typeof value === 'number') return [[path, value]];
  return Object.entries(Object(value)).flatMap(([key, each]) => numbersIn(each, `${path}.${key}`));
}

describe('the budgets of an effort', () => {
  it('are those of the normal one first, and then more', () => {
    const [first, second] = budgetsOf('thorough');
    expect(first).toBe(NORMAL);
    const more = new Map(numbersIn(second));
    const smaller = [...numbersIn(NORMAL)].filter(([path, most]) => (more.get(path) ?? 0) < most);
    // The money at stake from which on longer searches are worth it is less.
    expect(smaller.map(([path]) => path)).toEqual(['.combining.longCostLeast']);
  });

  it('are no less than those of the quick one', () => {
    const more = new Map(numbersIn(NORMAL));
    for (const [path, most] of numbersIn(only(budgetsOf('quick')))) {
      expect(more.get(path), path).toBeGreaterThanOrEqual(most);
    }
  });
});

describe('a part that takes more steps than its budget', () => {
  it('is given up while pods are placed one by one', () => {
    const context = contextOf(30);
    const steps = grown(context)?.state.steps ?? 0;
    expect(steps).toBeGreaterThan(1000);
    expect(grown(context, { most: steps * 2 })).toBeDefined();
    expect(grown(context, { most: steps / 4 })).toBeUndefined();
  });

  it('does not begin to improve a plan', () => {
    const context = contextOf(3);
    const start = grown(context);
    if (start === undefined) throw new Error('it was not bounded');
    expect(improved(start, context.resolvedClasses, improving, any()).cost).toBeLessThan(
      start.cost,
    );
    expect(improved(start, context.resolvedClasses, { ...improving, most: 0 }, any())).toBe(start);
  });

  it('does not begin to make one node of two', () => {
    const context = contextOf(3);
    const start = grown(context);
    if (start === undefined) throw new Error('it was not bounded');
    expect(merged(start, { ...merging, copied: 100 }, any())).toBe(start);
    expect(attemptOf(context, merged(start, merging, any()).state).cost).toBeLessThanOrEqual(
      start.cost,
    );
  });
});

describe('combining what is left again', () => {
  it.each([3, 6, 9])('is cheaper than leaving it to be packed: %i pods of each shape', (count) => {
    const context = contextOf(count);
    const costs = (budgets: StepBudgets) =>
      attempts(context, new Known(budgets, new Relaxations())).map(({ cost, placed }) => {
        expect(placed).toEqual([20 * count]);
        return cost;
      });
    const packedOnly = { ...NORMAL, improving: undefined, merging: undefined };
    const from = (longCostLeast: number, more: Partial<CombiningBudget> = {}): StepBudgets => ({
      ...packedOnly,
      combining: { ...combining, ...more, longCostLeast },
    });
    const long = from(0, { least: 4_000_000, divesPerUsd: 1e6 });
    const plain = from(Number.POSITIVE_INFINITY);
    expect(Math.min(...costs(long))).toBeLessThan(Math.min(...costs(plain)));
  });
});
