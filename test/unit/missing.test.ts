import { expect, it } from 'vitest';
import { InvariantViolation } from '../../shared/core/invariant.ts';
import { missing } from '../../shared/core/missing.ts';

it('names what is not there', () => {
  expect(() => missing('a')).toThrow(InvariantViolation);
  expect(() => missing(7)).toThrow('what is looked up is there (7 is not)');
});
