import { expect, it } from 'vitest';
import {
  replacedByText,
  replacedUids,
  replacementNames,
  replacesText,
} from '../../../../shared/core/model/annotations/replacements.ts';
import { REPLACED_BY, REPLACES } from '../../../../shared/core/model/labels.ts';

it('name uids and names in order', () => {
  expect(replacesText(['b', 'a'])).toBe('a,b');
  expect(replacedByText(['b', 'c', 'a'])).toBe('a,b,c');
  expect(replacedUids({ [REPLACES]: 'a,b' })).toEqual(['a', 'b']);
  expect(replacedUids({ [REPLACES]: '' })).toEqual([]);
  expect(replacedUids({})).toEqual([]);
  expect(replacementNames({ [REPLACED_BY]: replacedByText(['b', 'a']) })).toEqual(['a', 'b']);
  expect(replacementNames({})).toBeUndefined();
});
