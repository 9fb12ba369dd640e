import { afterEach, describe, expect, it, vi } from 'vitest';
import { ZONE } from '../../../shared/core/model/labels.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import type { Attempt } from '../../../shared/core/scheduling/attempt.ts';
import { attempts, Known } from '../../../shared/core/scheduling/attempts.ts';
import { budgetsOf } from '../../../shared/core/scheduling/effort.ts';
import { Master } from '../../../shared/core/scheduling/packing/master.ts';
import { PatternFinder } from '../../../shared/core/scheduling/packing/pattern-finder.ts';
import { Relaxations } from '../../../shared/core/scheduling/packing/pod-values.ts';
import { PlanSteps } from '../../../shared/core/scheduling/plan-steps.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { SearchContext } from '../../../shared/core/scheduling/search/search-state.ts';
import { ofApp, spreadOver } from '../../builders/affinity.ts';
import { GI, podsOf, poolOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

describe('the steps of a plan', () => {
  it('give a part no more than a share of what is left', () => {
    const steps = new PlanSteps(1000);
    expect(steps.allowance(10)).toBe(10);
    expect(steps.allowance(5000)).toBe(750);
    steps.take(800);
    expect(steps.allowance(5000)).toBe(150);
  });

  it('end at none, however many were taken', () => {
    const steps = new PlanSteps(1000);
    steps.take(3000);
    expect(steps.left).toBe(0);
    expect(steps.allowance(10)).toBe(0);
  });

  it('keep a share for what follows, until another is kept', () => {
    const steps = new PlanSteps(1000);
    steps.keep(0.5);
    steps.take(200);
    expect(steps.left).toBe(300);
    steps.keep(0.25);
    expect(steps.left).toBe(600);
    steps.keep(0);
    expect(steps.left).toBe(800);
  });
});

describe('a share of the steps of a plan', () => {
  it('takes from them, so that what it leaves is for the others', () => {
    const all = new PlanSteps(900);
    const first = all.share(3);
    expect(first.left).toBe(300);
    first.take(100);
    expect([first.left, all.left]).toEqual([200, 800]);
    expect(all.share(2).left).toBe(400);
  });
});

const TYPES = [2, 4, 8].flatMap((perCpu, family) =>
  [4, 8, 16, 32, 48].map((cpu) =>
    typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, cpu * (0.02 + 0.006 * perCpu)),
  ),
);
const SHAPES = 40;
const EACH = 10;

/** Two NodePools, the heavier one with a limit, and spreads that must hold: rounds in every way. */
function contextOf(): SearchContext {
  const pods = Array.from({ length: SHAPES }, (_, at) => {
    const name = `s${at}`;
    const memory = (2 + ((at * 7) % 19)) * GI;
    const topologySpread = at % 4 === 0 ? [spreadOver(ZONE, ofApp(name))] : [];
    const spec = { cpu: 700 + 410 * ((at * 3) % 17), memory, topologySpread };
    return podsOf(EACH, name, spec, { labels: { app: name } });
  }).flat();
  const nodePools = [
    poolOf('first', { weight: 20, limits: { cpu: 500_000 } }),
    poolOf('second', { weight: 1 }),
  ];
  const snapshot = snapshotOf({ types: TYPES, nodePools, pods });
  return new SearchContext(compileProblem(snapshot, DEFAULT_SCHEDULING_SETTINGS), {
    kinds: new Set(),
  });
}

const { best } = PatternFinder.prototype;
const { solve } = Master.prototype;

/** The plans of the steps, and what searches and programmes themselves say that they took. */
function counted(plan: number): { readonly found: readonly Attempt[]; readonly taken: number } {
  const counting = new Set<{ readonly steps: number }>();
  vi.spyOn(PatternFinder.prototype, 'best').mockImplementation(function (
    this: PatternFinder,
    option,
  ) {
    counting.add(this);
    return best.call(this, option);
  });
  vi.spyOn(Master.prototype, 'solve').mockImplementation(function (this: Master) {
    counting.add(this);
    solve.call(this);
  });
  const [normal] = budgetsOf('normal');
  if (normal?.combining === undefined) throw new Error('a normal effort combines');
  const combining = { ...normal.combining, least: 4_000_000, longCostLeast: 0 };
  const budgets = { ...normal, combining, plan };
  const found = attempts(contextOf(), new Known(budgets, new Relaxations()));
  return { found, taken: [...counting].reduce((sum, { steps }) => sum + steps, 0) };
}

function costOf(found: readonly Attempt[]): number {
  return Math.min(...found.map(({ cost }) => cost));
}

afterEach(() => vi.restoreAllMocks());

describe('all attempts at a plan', () => {
  it('take no more steps together than the plan has', () => {
    const most = 3_000_000;
    const all = counted(Number.POSITIVE_INFINITY);
    expect(all.taken).toBeGreaterThan(2 * most);
    const { found, taken } = counted(most);
    expect(taken).toBeLessThan(most);
    expect(costOf(found)).toBeLessThan(costOf(counted(0).found));
  });

  it('make a plan of every pod without any', () => {
    const { found, taken } = counted(0);
    expect(found.map(({ placed }) => placed)).toContainEqual([SHAPES * EACH]);
    expect(taken).toBeLessThan(300_000);
  });
});
