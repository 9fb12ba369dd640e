import { expect, it } from 'vitest';
import { waitingPods } from '../../../shared/preview/observation.ts';
import { podOf } from '../../builders/scheduling.ts';

it('pods that wait are those that plans place: not bound, not over, not on their way out', () => {
  const pods = [
    podOf('waits'),
    podOf('goes', {}, { deletedAtMs: 1 }),
    podOf('fresh', {}, { unschedulable: false }),
    podOf('bound', {}, { nodeName: 'n1' }),
    podOf('failed', {}, { phase: 'Failed' }),
    podOf('also'),
  ];
  expect(waitingPods(pods)).toEqual(['default/also', 'default/waits']);
});
