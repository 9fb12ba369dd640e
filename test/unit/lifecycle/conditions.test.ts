import { describe, expect, it } from 'vitest';
import { readiness, withConditions } from '../../../shared/core/lifecycle/conditions.ts';

describe('conditions', () => {
  it('keep their time while the status stays', () => {
    const before = withConditions([], [{ type: 'A', status: 'True', reason: 'x', message: '' }], 1);
    const after = withConditions(
      before,
      [{ type: 'A', status: 'True', reason: 'y', message: '' }],
      2,
    );
    expect(after[0]).toMatchObject({ reason: 'y', lastTransitionAtMs: 1 });
  });

  it('Ready is False before it is Unknown', () => {
    const list = withConditions(
      [],
      [{ type: 'B', status: 'False', reason: 'No', message: 'm' }],
      1,
    );
    expect(readiness(list, ['A', 'B'])).toMatchObject({ status: 'False', reason: 'No' });
    expect(readiness(list, ['A'])).toMatchObject({ status: 'Unknown' });
  });
});
