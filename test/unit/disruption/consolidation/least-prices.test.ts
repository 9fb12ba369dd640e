import { describe, expect, it } from 'vitest';
import { leastPrices } from '../../../../shared/core/disruption/consolidation/least-prices.ts';
import { ZONE } from '../../../../shared/core/model/labels.ts';
import { GI, poolOf, typeOf } from '../../../builders/scheduling.ts';

/** Twice as much memory a CPU in one as in the other, each 0.1 USD an hour. */
const WIDE = typeOf('r.large', 2, 16, 0.1);
const NARROW = typeOf('c.large', 4, 8, 0.1);

function pricesOf(types = [WIDE, NARROW], pools = [poolOf('general')]) {
  return leastPrices({ nodePools: pools, instanceTypes: new Map([['general', types]]) });
}

const amounts = (cpu: number, memoryGi: number) =>
  new Map([
    ['cpu', cpu],
    ['memory', memoryGi * GI],
  ]);

describe('the least that nodes cost an hour', () => {
  it('is by the resource of which most is wanted', () => {
    const prices = pricesOf();
    expect(prices.ofAmounts(amounts(8000, 0))).toBeCloseTo(0.2, 9);
    expect(prices.ofAmounts(amounts(0, 64))).toBeCloseTo(0.4, 9);
    expect(prices.ofAmounts(new Map())).toBe(0);
  });

  it('is more where two resources are wanted than either alone costs', () => {
    const least = pricesOf().ofAmounts(amounts(6000, 24));
    // One node of each has just that; either resource alone could be had for 0.15.
    expect(least).toBeLessThanOrEqual(0.2);
    expect(least).toBeGreaterThan(0.2 * 0.99);
  });

  it('is what the cheapest node costs that holds the pod', () => {
    const prices = pricesOf([WIDE, NARROW, typeOf('m.2xlarge', 8, 32, 0.3)]);
    expect(prices.ofPod({ cpu: 3000, memory: GI })).toBeCloseTo(0.1, 9);
    expect(prices.ofPod({ cpu: 3000, memory: 10 * GI })).toBeCloseTo(0.3, 9);
    // No node does, and no move is refused for what cannot be.
    expect(prices.ofPod({ cpu: 9000 })).toBe(0);
    expect(prices.ofAmounts(new Map([['example.com/gpu', 1]]))).toBe(0);
  });

  it('is known where hundreds of NodePools have hundreds of types each', () => {
    const types = Array.from({ length: 400 }, (_, at) => typeOf(`m${at}.large`, 2, 8, 0.1 + at));
    const nodePools = Array.from({ length: 400 }, (_, at) => poolOf(`team-${at}`));
    const instanceTypes = new Map(nodePools.map(({ name }) => [name, types]));
    const prices = leastPrices({ nodePools, instanceTypes });
    expect(prices.ofAmounts(amounts(2000, 8))).toBeCloseTo(0.1, 9);
    expect(prices.ofPod({ cpu: 2000, memory: GI })).toBeCloseTo(0.1, 9);
  });

  it('is nothing where a launch costs nothing', () => {
    const prices = pricesOf([WIDE, typeOf('free', 4, 8, 0)]);
    expect(prices.ofAmounts(amounts(6000, 24))).toBe(0);
  });

  it('counts launches that the NodePool allows', () => {
    const elsewhere = { key: ZONE, operator: 'In', values: ['nowhere'] } as const;
    const other = poolOf('general', { requirements: [elsewhere] });
    expect(pricesOf([WIDE], [other]).ofAmounts(amounts(2000, 0))).toBe(0);
    expect(pricesOf([WIDE]).ofAmounts(amounts(2000, 0))).toBeCloseTo(0.1, 9);
    const labels = { ...NARROW.labels, gpu: null };
    const asking = poolOf('general', {
      requirements: [{ key: 'gpu', operator: 'Exists', values: [] }],
    });
    const found = pricesOf([WIDE, { ...NARROW, labels }], [asking]);
    expect(found.ofAmounts(amounts(4000, 0))).toBeCloseTo(0.2, 9);
  });

  it('takes the cheapest of the offerings, and room that only one of them has as its own', () => {
    const [first, ...rest] = WIDE.offerings;
    if (first === undefined) throw new Error('an offering');
    const offerings = [{ ...first, price: 0.05 }, ...rest];
    const cheap = pricesOf([{ ...WIDE, offerings }]);
    expect(cheap.ofAmounts(amounts(2000, 0))).toBeCloseTo(0.05, 9);
    const wider = [{ ...first, capacityOverride: { cpu: 2000 } }, ...rest];
    const roomy = pricesOf([{ ...WIDE, offerings: wider }]);
    expect(roomy.ofPod({ cpu: 4000 })).toBeCloseTo(0.1, 9);
  });

  it('is kept for the same lists, and not for others', () => {
    const types = [WIDE];
    const pools = [poolOf('general')];
    expect(pricesOf(types, pools)).toBe(pricesOf(types, [...pools]));
    const instanceTypes = new Map([
      ['general', types],
      ['other', [NARROW]],
    ]);
    const both = leastPrices({ nodePools: [...pools, poolOf('other')], instanceTypes });
    expect(both.ofAmounts(amounts(4000, 0))).toBeCloseTo(0.1, 9);
  });
});
