import { expect, it } from 'vitest';
import { readEntries } from '../../../shared/core/disruption/annotation-entries.ts';
import { sentence } from '../../../shared/core/explain/reason.ts';

const ANNOTATION = { annotation: 'joiner.dev/some', like: 'a=1,b=2' };

function read(text: string) {
  const taken: string[] = [];
  const fault = readEntries(text, ANNOTATION, (key, value) => {
    if (key !== 'a' && key !== 'b') return false;
    taken.push(`${key} ${value}`);
    return true;
  });
  return { taken, fault: fault && sentence(fault) };
}

it.each([
  ['a=1', ['a 1']],
  [' a = 1 , b=2', ['a 1', 'b 2']],
  ['a', ['a ']],
])('"%s" is read', (text, taken) => {
  expect(read(text)).toEqual({ taken, fault: undefined });
});

it.each([
  ['', ''],
  ['c=1', 'c=1'],
  ['a=1=2', 'a=1=2'],
  ['a=1, c=2 ,b=3', 'c=2'],
])('"%s" is not', (text, wrong) => {
  const said = `Annotation joiner.dev/some: "${wrong}" is invalid; example: a=1,b=2`;
  expect(read(text).fault).toBe(said);
});
