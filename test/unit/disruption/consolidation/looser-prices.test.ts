import { describe, expect, it } from 'vitest';
import { looserNodePrices } from '../../../../shared/core/disruption/consolidation/looser-prices.ts';

describe('what nodes are charged for in looser plans', () => {
  it.each([
    [0, Number.POSITIVE_INFINITY, [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 3]],
    [0, 7, [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 3]],
    [0, 3, [0.04, 0.16, 3]],
    [0, 2, [0.08, 3]],
    [0, 1, [3]],
    [0, 0, []],
    [0, -1, []],
    [0.05, 10, [0.08, 0.16, 0.32, 3]],
    [0.05, 2, [0.16, 3]],
    [3, 7, []],
  ])('beyond %d, for %d plans: %j', (nodePrice, plansMax, prices) => {
    expect(looserNodePrices(nodePrice, plansMax)).toEqual(prices);
  });
});
