import { expect, it } from 'vitest';
import { InvariantViolation, invariant, itemAt } from '../../shared/core/invariant.ts';

it('an invariant that holds says nothing, another ends the decision by name', () => {
  expect(() => invariant(true, 'two is two')).not.toThrow();
  expect(() => invariant(false, 'two is two')).toThrow(InvariantViolation);
  expect(() => invariant(false, 'two is two')).toThrow('two is two');
  expect(new InvariantViolation('x').name).toBe('InvariantViolation');
});

it('an item is there, or the decision ends', () => {
  expect(itemAt(['a', ''], 1)).toBe('');
  expect(itemAt(Int32Array.of(0, 7), 0)).toBe(0);
  expect(() => itemAt(['a'], 1)).toThrow('there is an item at 1 of 1');
  expect(() => itemAt(['a'], -1)).toThrow(InvariantViolation);
});
