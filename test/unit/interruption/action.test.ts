import { expect, it } from 'vitest';
import { actionFor } from '../../../shared/core/interruption/action.ts';
import type { InterruptionKind } from '../../../shared/core/interruption/interruption.ts';

/** Whether the NodeClaim is deleted, its offering barred, and EC2 able to confirm it. */
const ACTIONS: readonly (readonly [
  kind: InterruptionKind,
  eventReason: string,
  deleteClaim: boolean,
  markOffering: boolean,
  confirmable: boolean,
])[] = [
  ['spot_interrupted', 'SpotInterrupted', true, true, true],
  ['rebalance_recommendation', 'SpotRebalanceRecommendation', false, false, false],
  ['instance_stopped', 'InstanceStopping', true, false, true],
  ['instance_terminated', 'InstanceTerminating', true, false, true],
  ['scheduled_change', 'InstanceUnhealthy', true, false, false],
  ['capacity_reservation_interrupted', 'CapacityReservationInstanceInterrupted', true, true, false],
];

const messageOf = (kind: InterruptionKind) => ({
  kind,
  instanceIds: ['i-0123456789abcdef0'],
  reservationId: undefined,
  instanceAction: undefined,
  sentAtMs: 0,
});

it.each(ACTIONS)('%s: event %s, deletes %s, bars %s, confirmable %s', (kind, ...expected) => {
  const [eventReason, deleteClaim, markOffering, confirmable] = expected;
  expect(actionFor(messageOf(kind))).toEqual({
    eventReason,
    deleteClaim,
    markOffering,
    confirmable,
  });
});

it('nothing follows from a message that asks for nothing', () => {
  expect(actionFor(messageOf('no_op'))).toBeUndefined();
});
