import { expect, it } from 'vitest';
import { independentParts } from '../../../shared/core/scheduling/packing/parts.ts';
import type { LaunchGroup } from '../../../shared/core/scheduling/problem/launch-options.ts';

/** Each in a NodePool of its own; from 10 on they are further ones of those. */
const group = (id: number) => ({ id, pool: { pool: { name: `${id % 10}` } } }) as LaunchGroup;
const batch = (name: string, ...allowed: readonly number[]) => ({
  name,
  allowed: Uint8Array.from({ length: 16 }, (_, id) => Number(allowed.includes(id))),
});

/** Names of pods and ids of groups, by part. */
function partsOf(batches: readonly ReturnType<typeof batch>[], ids: readonly number[]) {
  const parts = independentParts(batches, ids.map(group));
  return parts.map((part) => [
    part.batches.map(({ name }) => name).join(''),
    part.groups.map(({ id }) => id).join(''),
  ]);
}

it.each([
  ['one', [batch('a', 0, 1), batch('b', 1, 2)], [0, 1, 2], [['ab', '012']]],
  [
    'two',
    [batch('a', 0), batch('b', 1), batch('c', 0)],
    [0, 1],
    [
      ['ac', '0'],
      ['b', '1'],
    ],
  ],
  [
    'two that a third joins',
    [batch('a', 0), batch('b', 1), batch('c', 0, 1)],
    [0, 1],
    [['abc', '01']],
  ],
  [
    'a chain, whatever the order of the groups',
    [batch('a', 0, 1), batch('b', 2, 3), batch('c', 3, 1), batch('d', 4)],
    [4, 3, 2, 1, 0, 5],
    [
      ['abc', '3210'],
      ['d', '4'],
    ],
  ],
  [
    'one for two groups of a NodePool',
    [batch('a', 1), batch('b', 0), batch('c', 11)],
    [0, 1, 11],
    [
      ['ac', '111'],
      ['b', '0'],
    ],
  ],
  ['none for pods that no group takes', [batch('a', 5), batch('b', 1)], [0, 1], [['b', '1']]],
  ['none', [], [0], []],
])('finds %s', (_, batches, ids, expected) => {
  expect(partsOf(batches, ids)).toEqual(expected);
});
