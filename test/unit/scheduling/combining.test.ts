import { describe, expect, it } from 'vitest';
import {
  combined,
  type Multiple,
  masterFor,
} from '../../../shared/core/scheduling/packing/combining.ts';
import { type Demand, Pricing } from '../../../shared/core/scheduling/packing/pricing.ts';
import { PlanSteps } from '../../../shared/core/scheduling/plan-steps.ts';
import type { LaunchOption } from '../../../shared/core/scheduling/problem/launch-options.ts';

const OPTIONS = [2, 4, 8, 16].map((cpu): LaunchOption => {
  const group = { id: 0 };
  return { price: cpu * 0.05, free: Float64Array.from([cpu, cpu]), group } as LaunchOption;
});

/** 20 odd shapes, 7 pods of each. */
function demandOf(): Demand {
  const shapes = Array.from({ length: 20 }, (_, id) => ({
    id,
    requests: Float64Array.from([0.3 + 0.17 * ((id * 7) % 19), 0.2 + 0.23 * ((id * 3) % 17)]),
    allowed: Uint8Array.of(1),
    perNode: Number.POSITIVE_INFINITY,
  }));
  const values = Float64Array.from(shapes, ({ requests }) => Math.max(...requests) * 0.05);
  const left = new Float64Array(shapes.length).fill(7);
  return { shapes, left, options: OPTIONS, main: [0, 1], values, nodePrice: 0.003 };
}

/** As many as are wanted. */
const any = () => new PlanSteps(Number.POSITIVE_INFINITY);

const STEPS = { stepsMax: 200_000, roundedFrom: 1 };

function podsOf(multiples: readonly Multiple[]): number {
  return multiples
    .map(({ pattern, copies }) => copies * pattern.amounts.reduce((sum, each) => sum + each, 0))
    .reduce((sum, each) => sum + each, 0);
}

describe('combining what is left again', () => {
  const diving = { ...STEPS, dives: 1e7 };
  const found = (least: number) => ({ patterns: [], least });

  it('gives every pod a node', () => {
    const whole = combined(demandOf(), found(Number.POSITIVE_INFINITY), STEPS, any());
    expect(podsOf(whole)).toBeLessThan(140);
    const all = combined(demandOf(), found(Number.POSITIVE_INFINITY), diving, any());
    expect(podsOf(all)).toBe(140);
  });

  it('ends where it can be no cheaper than what is known', () => {
    const whole = combined(demandOf(), found(Number.POSITIVE_INFINITY), STEPS, any());
    expect(combined(demandOf(), found(0), diving, any())).toEqual(whole);
    const all = combined(demandOf(), found(Number.POSITIVE_INFINITY), diving, any());
    const cost = all.reduce(
      (sum, { pattern, copies }) => sum + copies * (pattern.option.price + 0.003),
      0,
    );
    expect(podsOf(combined(demandOf(), found(cost * 0.98), diving, any()))).toBeLessThan(140);
    expect(podsOf(combined(demandOf(), found(cost * 1.001), diving, any()))).toBe(140);
  });
});

describe('patterns for the combination', () => {
  it('are searched for longer where searches find nothing but do not end', () => {
    const options = OPTIONS.map((option) => ({
      ...option,
      price: option.price * 8,
      free: option.free.map((each) => each * 8),
    }));
    const demand = { ...demandOf(), options };
    demand.left.fill(700);
    const costBy = (longest: number): number => {
      const master = masterFor(demand, []);
      if (master === undefined) throw new Error('there are launch options');
      new Pricing(demand, master, true).run(4e6, { first: 500, longest });
      return master.cost;
    };
    expect(costBy(1e6)).toBeLessThan(costBy(500));
  });
});

describe('the programme of known patterns', () => {
  it('ends after so many steps, whatever the number of shapes, and still covers all pods', () => {
    const count = 600;
    const shapes = Array.from({ length: count }, (_, id) => ({
      id,
      requests: Float64Array.from([0.3 + 0.003 * id, 0.2 + 0.0021 * ((id * 7) % count)]),
      allowed: Uint8Array.of(1),
      perNode: Number.POSITIVE_INFINITY,
    }));
    const left = new Float64Array(count).fill(1);
    const [, , , option] = OPTIONS;
    if (option === undefined) throw new Error('there are launch options');
    // Each pair of shapes is cheaper than two nodes.
    const known = shapes.map(({ id }) => {
      const pair = [id, (id + 1) % count].sort((a, b) => a - b);
      return { option, shapes: pair, amounts: [1, 1], value: 0 };
    });
    const values = new Float64Array(count).fill(0.05);
    const demand = { shapes, left, options: [option], main: [0, 1], values, nodePrice: 0.003 };
    const master = masterFor(demand, known);
    expect(master?.steps).toBeLessThan(4_100_000);
    const nodes = new Float64Array(count);
    for (const use of master?.uses() ?? []) {
      for (const [at, shape] of use.pattern.shapes.entries()) {
        nodes[shape] = (nodes[shape] ?? 0) + use.nodes * (use.pattern.amounts[at] ?? 0);
      }
    }
    expect(Math.min(...nodes)).toBeGreaterThan(1 - 1e-6);
  });
});
