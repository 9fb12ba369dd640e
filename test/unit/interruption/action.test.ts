import { expect, it } from 'vitest';
import { actionFor, type Confirmation } from '../../../shared/core/interruption/action.ts';
import type { InterruptionKind } from '../../../shared/core/interruption/interruption.ts';

/** Whether the NodeClaim is deleted and its offering barred, and what in EC2 can confirm it. */
const ACTIONS: readonly (readonly [
  kind: InterruptionKind,
  eventReason: string,
  deleteClaim: boolean,
  markOffering: boolean,
  confirmedBy: Confirmation,
  isUrgent: boolean,
])[] = [
  ['spot_interrupted', 'SpotInterrupted', true, true, 'spot-request', true],
  ['rebalance_recommendation', 'SpotRebalanceRecommendation', false, false, 'nothing', false],
  ['instance_stopped', 'InstanceStopping', true, false, 'instance-state', true],
  ['instance_terminated', 'InstanceTerminating', true, false, 'instance-state', false],
  ['scheduled_change', 'InstanceUnhealthy', true, false, 'nothing', true],
  [
    'capacity_reservation_interrupted',
    'CapacityReservationInstanceInterrupted',
    true,
    true,
    'nothing',
    true,
  ],
];

const messageOf = (kind: InterruptionKind) => ({
  kind,
  instanceIds: ['i-0123456789abcdef0'],
  reservationId: undefined,
  instanceAction: undefined,
  sentAtMs: 0,
});

it.each(ACTIONS)(
  '%s: event %s, deletes %s, bars %s, confirmed by %s, urgent %s',
  (kind, ...expected) => {
    const [eventReason, deleteClaim, markOffering, confirmedBy, isUrgent] = expected;
    expect(actionFor(messageOf(kind))).toEqual({
      eventReason,
      deleteClaim,
      markOffering,
      confirmedBy,
      isUrgent,
    });
  },
);

it('nothing follows from a message that asks for nothing', () => {
  expect(actionFor(messageOf('no_op'))).toBeUndefined();
});
