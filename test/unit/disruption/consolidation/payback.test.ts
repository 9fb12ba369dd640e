import { describe, expect, it } from 'vitest';
import {
  balanceOf,
  type ConsolidationSettings,
  DEFAULT_CONSOLIDATION_SETTINGS,
  disruptionOf,
  gainOf,
  isBalanced,
  paybackMs,
} from '../../../../shared/core/disruption/consolidation/payback.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import { clusterOf, poolUses } from '../../../builders/consolidation.ts';
import { podOf, podsOf, poolOf } from '../../../builders/scheduling.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const settings = (rest: Partial<ConsolidationSettings>): ConsolidationSettings => ({
  ...DEFAULT_CONSOLIDATION_SETTINGS,
  ...rest,
});

it('a move has four hours to pay back, and an eviction counts as two cents', () => {
  expect(DEFAULT_CONSOLIDATION_SETTINGS).toEqual({
    horizonMs: 4 * HOUR,
    evictionPrice: 0.02,
    spotToSpot: false,
  });
});

describe('what a move brings and takes', () => {
  const { usages } = clusterOf([
    { name: 'a', type: 'm.xlarge', pods: [podOf('a')] },
    { name: 'b', type: 'm.large', pods: podsOf(2, 'b', { cpu: 100 }) },
  ]);

  it('is the difference in price, the evictions, and five minutes of both', () => {
    const found = balanceOf(usages, 0.12, settings({ evictionPrice: 0.5 }));
    expect(found.saving).toBeCloseTo(0.18, 9);
    expect(found.cost).toBeCloseTo(1.5 + 0.12 / 12, 9);
    expect(balanceOf(usages, 0, settings({})).cost).toBeCloseTo(0.06, 9);
    expect(balanceOf([], 0.12, settings({})).saving).toBeCloseTo(-0.12, 9);
  });

  it.each([
    [{ saving: 0.5, cost: 0.25 }, 0.5 * HOUR],
    [{ saving: 0.1, cost: 0.2 }, 2 * HOUR],
    [{ saving: 0, cost: 0 }, Number.POSITIVE_INFINITY],
    [{ saving: -0.1, cost: 0.2 }, Number.POSITIVE_INFINITY],
  ])('%j pays back after %d ms', (balance, expected) => {
    expect(paybackMs(balance)).toBe(expected);
  });

  it.each([
    [{ saving: 0.2, cost: 0.02 }, 4 * HOUR, 0.78],
    [{ saving: 0.2, cost: 0.02 }, HOUR / 2, 0.08],
    [{ saving: 0.2, cost: 0.9 }, 4 * HOUR, -0.1],
    [{ saving: 0, cost: 0 }, 4 * HOUR, 0],
  ])('%j gains by %d ms %d USD', (balance, horizonMs, expected) => {
    expect(gainOf(balance, settings({ horizonMs }))).toBeCloseTo(expected, 9);
  });
});

it('a high deletion cost does not keep a node that saves more than two evictions cost', () => {
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '1000000000' };
  const pods = [podOf('a', {}, { annotations })];
  const { usages } = clusterOf([{ name: 'a', type: 'm.large', pods }]);
  const balance = balanceOf(usages, 0.07, settings({}));
  expect(balance.cost).toBeCloseTo(0.04 + 0.07 / 12, 9);
  expect(gainOf(balance, settings({}))).toBeGreaterThan(0);
});

it('a node weighs one, and what its pods’ eviction counts as', () => {
  expect(disruptionOf({ evictionCost: 0 })).toBe(1);
  expect(disruptionOf({ evictionCost: 2.5 })).toBe(3.5);
});

describe('the policy Balanced', () => {
  const balanced = (name: string): NodePool => {
    const pool = poolOf(name);
    return { ...pool, disruption: { ...pool.disruption, consolidationPolicy: 'Balanced' } };
  };
  const of = (saving: number, pods: number, pool = balanced('general')) => {
    const many = podsOf(pods, 'many', { cpu: 10 });
    const { usages } = clusterOf(
      [
        { name: 'a', type: 'm.large', pods: many },
        { name: 'b', type: 'm.large', pods: podsOf(9, 'others', { cpu: 10 }) },
      ],
      { pools: [pool] },
    );
    return isBalanced(usages.slice(0, 1), { saving, cost: 0 }, poolUses(usages));
  };

  it.each([
    ['half of the price for half of the disruption', 0.1, 9, true],
    ['a quarter of it for half of the disruption', 0.05, 9, true],
    ['less than that', 0.049, 9, false],
    ['little for few pods', 0.02, 1, true],
  ])('%s', (_, saving, pods, expected) => {
    expect(of(saving, pods)).toBe(expected);
  });

  it('is not asked for by other policies', () => {
    expect(of(0.001, 9, poolOf('general'))).toBe(true);
  });

  it('is asked for by each NodePool, by what its nodes cost of the move', () => {
    const pools = [balanced('one'), balanced('two')];
    const { usages } = clusterOf(
      [
        { name: 'a', type: 'm.large', pool: 'one', pods: [podOf('a', { cpu: 10 })] },
        { name: 'b', type: 'm.4xlarge', pool: 'two', pods: [podOf('b', { cpu: 10 })] },
      ],
      { pools },
    );
    const is = (saving: number) => isBalanced(usages, { saving, cost: 0 }, poolUses(usages));
    // Each loses all of its nodes: half of its price has to be saved.
    expect(is(0.45)).toBe(true);
    expect(is(0.44)).toBe(false);
  });

  it('is asked for by one NodePool of two', () => {
    const { usages } = clusterOf(
      ['one', 'two'].map((pool) => ({ name: pool, type: 'm.large', pool, pods: [] })),
      { pools: [balanced('one'), poolOf('two')] },
    );
    const is = (saving: number) => isBalanced(usages, { saving, cost: 0 }, poolUses(usages));
    expect([is(0.1), is(0.09)]).toEqual([true, false]);
  });

  it('takes nothing where nothing is known of its nodes, or they cost nothing', () => {
    const { usages } = clusterOf([{ name: 'a', type: 'm.large', pods: [] }], {
      pools: [balanced('general')],
    });
    const free = usages.map((each) => ({ ...each, pricePerHour: 0 }));
    expect(isBalanced(usages, { saving: 1, cost: 0 }, new Map())).toBe(false);
    expect(isBalanced(free, { saving: 1, cost: 0 }, poolUses(usages))).toBe(false);
    expect(isBalanced(usages, { saving: 1, cost: 0 }, poolUses(usages))).toBe(true);
  });
});
