import { expect, it } from 'vitest';
import { parsedJson } from '../../shared/core/parsed-json.ts';

it.each<[string, unknown]>([
  ['{"a": [1]}', { a: [1] }],
  ['null', null],
  ['', undefined],
  ['{"a": ', undefined],
  ['plain', undefined],
])('%j is read', (text, value) => {
  expect(parsedJson(text)).toEqual(value);
});
