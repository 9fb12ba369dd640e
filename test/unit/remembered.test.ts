import { expect, it } from 'vitest';
import { Remembered } from '../../shared/core/remembered.ts';

/** Asks for the texts in turn; the answers count how often one was made. */
function asked(remembered: Remembered<object, string>, list: object, ...texts: readonly string[]) {
  let made = 0;
  return texts.map((text) =>
    remembered.of(list, text, () => {
      made += 1;
      return `${text}${made}`;
    }),
  );
}

it('is made once for a list and a text', () => {
  const remembered = new Remembered<object, string>(2);
  const list = {};
  expect(asked(remembered, list, 'a', 'b', 'a', 'b')).toEqual(['a1', 'b2', 'a1', 'b2']);
  expect(asked(remembered, {}, 'a')).toEqual(['a1']);
});

it('keeps the texts that were asked for last', () => {
  const remembered = new Remembered<object, string>(2);
  expect(asked(remembered, {}, 'a', 'b', 'a', 'c', 'a', 'b')).toEqual([
    ...['a1', 'b2', 'a1', 'c3', 'a1', 'b4'],
  ]);
});
