import { describe, expect, it } from 'vitest';
import { ValueOrder } from '../../../shared/core/scheduling/packing/value-order.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';

const COUNT = 200;
const random = numbers(11);
const idsOf = (count: number) => Int32Array.from({ length: count }, (_, id) => id);
/** Few different keys, so that many are equal, and some of them 0. */
const keysOf = (kinds: number) => Float64Array.from({ length: COUNT }, () => below(kinds, random));

function sorted(keys: Float64Array): readonly number[] {
  return [...keys.keys()]
    .filter((id) => (keys[id] ?? 0) > 0)
    .sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b);
}

describe('an order by value', () => {
  it('falls by key, then by number, without what is worth nothing', () => {
    const order = new ValueOrder(idsOf(4));
    order.sort(Float64Array.from([1, 3, 0, 3]));
    expect([...order.ids]).toEqual([1, 3, 0]);
  });

  it('is the same from whatever order it begins', () => {
    const order = new ValueOrder(idsOf(COUNT));
    for (const kinds of [1000, 20, 5]) {
      const keys = keysOf(kinds);
      order.sort(keys);
      expect([...order.ids]).toEqual(sorted(keys));
      // A few keys differ, which are put elsewhere one by one.
      for (let each = 0; each < 5; each++) keys[below(COUNT, random)] = below(kinds, random);
      order.sort(keys);
      expect([...order.ids]).toEqual(sorted(keys));
    }
  });

  it('takes what is worth something again back in', () => {
    const order = new ValueOrder(idsOf(2));
    order.sort(Float64Array.from([0, 1]));
    order.sort(Float64Array.from([2, 1]));
    expect([...order.ids]).toEqual([0, 1]);
  });
});
