import { expect, it } from 'vitest';
import { overlayRemark } from '../../../shared/core/overlay/remark.ts';

const PRICE = { priceChange: { kind: 'absolute', price: 1 }, capacity: {} } as const;
const CAPACITY = { priceChange: undefined, capacity: { 'x.io/a': 1 } };
const NEITHER = { priceChange: undefined, capacity: {} };
const WORKS = { isDead: false, shadowed: [] };

it.each([
  ['sets a price', WORKS, PRICE, undefined],
  ['sets a capacity', WORKS, CAPACITY, undefined],
  ['sets neither', WORKS, NEITHER, 'without effect: it sets neither a price nor a capacity'],
  [
    'sets neither and matches nothing',
    { isDead: true, shadowed: [] },
    NEITHER,
    'without effect: it sets neither a price nor a capacity',
  ],
  [
    'matches nothing',
    { isDead: true, shadowed: [] },
    PRICE,
    'dead: it matches no instance type of any NodePool',
  ],
  [
    'is covered everywhere',
    {
      isDead: false,
      shadowed: [
        { field: 'price', by: ['a', 'b'] },
        { field: 'capacity.x.io/a', by: ['c'] },
      ],
    },
    PRICE,
    'shadowed everywhere by heavier overlays: price (by a, b); capacity.x.io/a (by c)',
  ],
])('an overlay that %s', (_, report, overlay, remark) => {
  expect(overlayRemark(report, overlay)).toBe(remark);
});
