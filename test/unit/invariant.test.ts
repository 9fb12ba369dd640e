import { expect, it } from 'vitest';
import { InvariantViolation, invariant } from '../../shared/core/invariant.ts';

it('an invariant that holds says nothing, another ends the decision by name', () => {
  expect(() => invariant(true, 'two is two')).not.toThrow();
  expect(() => invariant(false, 'two is two')).toThrow(InvariantViolation);
  expect(() => invariant(false, 'two is two')).toThrow('two is two');
  expect(new InvariantViolation('x').name).toBe('InvariantViolation');
});
