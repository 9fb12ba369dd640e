import { describe, expect, it } from 'vitest';
import { byDisruptionReason, DISRUPTION_REASONS } from '../../../shared/core/model/provisioning.ts';

describe('values by disruption reason', () => {
  it('have one for each reason, made from it', () => {
    const lengths = byDisruptionReason((reason) => reason.length);
    expect(lengths).toEqual({ Drifted: 7, Empty: 5, Underutilized: 13, Unhealthy: 9 });
  });

  it('have no other reason', () => {
    const made = Object.keys(byDisruptionReason(() => 0));
    expect(made.toSorted()).toEqual([...DISRUPTION_REASONS].toSorted());
  });
});
