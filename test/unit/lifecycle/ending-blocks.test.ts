import { expect, it } from 'vitest';
import { endingBlockOf } from '../../../shared/core/lifecycle/ending-blocks.ts';
import { RESERVATION_ID } from '../../../shared/core/model/labels.ts';
import type { CapacityReservation } from '../../../shared/core/model/node-class.ts';
import { ENDING_BLOCK } from '../launch/builders.ts';

const reserved = { labels: { [RESERVATION_ID]: 'cr-1' } };

it.each<[string, Parameters<typeof endingBlockOf>[0], Partial<CapacityReservation>, boolean]>([
  ['about to end', reserved, {}, true],
  ['not yet', reserved, { state: 'active' }, false],
  ['another one', reserved, { id: 'cr-2' }, false],
  ['a reservation without an end', reserved, { reservationType: 'default' }, false],
  ['in no reservation', { labels: {} }, {}, false],
])('a Capacity Block, %s', (_, claim, changes, isEnding) => {
  const own = { ...ENDING_BLOCK, ...changes };
  const nodeClass = { status: { capacityReservations: [own] } } as never;
  expect(endingBlockOf(claim, nodeClass)).toEqual(isEnding ? own : undefined);
});

it('of an EC2NodeClass that is gone nothing is known', () => {
  expect(endingBlockOf(reserved, undefined)).toBeUndefined();
});
