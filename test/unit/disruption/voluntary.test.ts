import { expect, it } from 'vitest';
import { VOLUNTARY_REASONS, VOLUNTARY_TERMS } from '../../../shared/core/disruption/voluntary.ts';
import { DISRUPTION_REASONS } from '../../../shared/core/model/provisioning.ts';

it('are all reasons but repairs, emptiness first and consolidation last', () => {
  expect(VOLUNTARY_REASONS).toEqual(['Empty', 'Drifted', 'Fallback', 'Underutilized']);
  expect([...VOLUNTARY_REASONS, 'Unhealthy'].toSorted()).toEqual(DISRUPTION_REASONS.toSorted());
});

it.each([
  ['Empty', 'graceful', false, true, false, 'node-empty'],
  ['Drifted', 'eventual', true, false, false, 'node-drifted'],
  ['Fallback', 'graceful', false, true, true, 'node-fallback'],
  ['Underutilized', 'graceful', false, true, true, 'pods-cheaper-on-replacements'],
] as const)('%s', (reason, disruptionClass, endsOnceAsAsked, yieldsToPods, backsOff, code) => {
  const terms = { class: disruptionClass, endsOnceAsAsked, yieldsToPods, backsOff };
  expect(VOLUNTARY_TERMS[reason]).toMatchObject({ ...terms, why: { code } });
});
