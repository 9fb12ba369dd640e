import { expect, it } from 'vitest';
import { reason } from '../../../shared/core/explain/reason.ts';
import { unplacedBecause } from '../../../shared/core/model/plan.ts';

it('a pod without a place has each of its reasons in words, in their order', () => {
  const reasons = [
    reason('volume-claim-lost', { volumeClaim: 'data' }),
    reason('pod-with-resource-claims', {}),
  ];
  const message =
    'PersistentVolumeClaim data has lost its volume; dynamic resource claims are not supported';
  expect(unplacedBecause(reasons)).toEqual({ reasons, message });
});
