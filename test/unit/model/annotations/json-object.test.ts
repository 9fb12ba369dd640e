import { expect, it } from 'vitest';
import { readJsonObject } from '../../../../shared/core/model/annotations/json-object.ts';

it.each([
  ['{"a":1}', { a: 1 }],
  ['{}', {}],
  ['[]', undefined],
  ['null', undefined],
  ['1', undefined],
  ['"a"', undefined],
  ['{', undefined],
  ['', undefined],
  [undefined, undefined],
])('%s', (text, expected) => {
  expect(readJsonObject(text)).toEqual(expected);
});
