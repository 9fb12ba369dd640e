import { expect, it } from 'vitest';
import { withPlannedLabels } from '../../../../shared/app/planning/new-claims.ts';
import { launchPlanText } from '../../../../shared/core/model/annotations/launch-plan.ts';
import { PLAN, RESERVATION_ID } from '../../../../shared/core/model/labels.ts';
import { claimOf, typeOf } from '../../../builders/scheduling.ts';

it('a claim planned for one of two reservations has the labels of that one', () => {
  const type = typeOf('a', 4, 16, 0.2);
  const [offering] = type.offerings;
  if (offering === undefined) throw new Error('the type has no offering');
  const reserved = (id: string) => ({
    ...offering,
    capacityType: 'reserved' as const,
    reservation: { id, type: 'default', capacity: 1, interruptible: false } as const,
  });
  const types = [{ ...type, offerings: [reserved('cr-first'), reserved('cr-second')] }];
  const plan = {
    type: 'a',
    zone: offering.zone,
    capacityType: 'reserved',
    price: 0,
    runnerUp: undefined,
    amounts: undefined,
  };
  const labelsOf = (reservationId: string | undefined) => {
    const annotations = { [PLAN]: launchPlanText({ ...plan, reservationId }) };
    return withPlannedLabels(claimOf('c', { annotations }), types, 'eu-central-1').labels;
  };
  expect(labelsOf('cr-second')).toMatchObject({ [RESERVATION_ID]: 'cr-second' });
  // Plans written before they named the reservation.
  expect(labelsOf(undefined)).toMatchObject({ [RESERVATION_ID]: 'cr-first' });
});
