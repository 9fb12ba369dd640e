import { expect, it } from 'vitest';
import { canonicalText } from '../../../shared/core/launch/canonical-text.ts';

it.each([
  [{ b: 1, a: [true, null, 'x"'] }, '{"a":[true,null,"x\\""],"b":1}'],
  [{ a: undefined, b: { d: 1, c: undefined } }, '{"b":{"d":1}}'],
  [{}, '{}'],
  [[], '[]'],
  [[1, [2], {}], '[1,[2],{}]'],
  [null, 'null'],
  [undefined, 'null'],
  ['text', '"text"'],
  [1.5, '1.5'],
])('%j', (value, text) => {
  expect(canonicalText(value)).toBe(text);
});

it('is the same in any order of keys', () => {
  const keys = ['c', 'a', 'b'].map((key) => [key, key] as const);
  expect(canonicalText(Object.fromEntries(keys))).toBe('{"a":"a","b":"b","c":"c"}');
  expect(canonicalText(Object.fromEntries(keys.toReversed()))).toBe('{"a":"a","b":"b","c":"c"}');
});
