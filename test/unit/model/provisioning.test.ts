import { expect, it } from 'vitest';
import { byDisruptionReason, DISRUPTION_REASONS } from '../../../shared/core/model/provisioning.ts';

it('a value for each disruption reason', () => {
  const lengths = byDisruptionReason((reason) => reason.length);
  expect(lengths).toEqual({ Drifted: 7, Empty: 5, Fallback: 8, Underutilized: 13, Unhealthy: 9 });
  expect(Object.keys(lengths).toSorted()).toEqual(DISRUPTION_REASONS.toSorted());
});
