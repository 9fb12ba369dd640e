import { expect, it } from 'vitest';
import { leastOf, mostOf } from '../../shared/core/extremes.ts';

it.each<[string, readonly number[]]>([
  ['none', []],
  ['one', [3]],
  ['some', [2, -1, 5]],
  ['what is no number', [1, Number.NaN]],
])('are those of Math.min and Math.max: of %s', (_, amounts) => {
  expect([leastOf(amounts), mostOf(amounts)]).toEqual([Math.min(...amounts), Math.max(...amounts)]);
});

it('are found in more numbers than a call takes', () => {
  const many = Array.from({ length: 500_000 }, (_, at) => at);
  expect([leastOf(many), mostOf(many)]).toEqual([0, 499_999]);
});
