import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DisjointSets, SetsByKey } from '../../shared/core/disjoint-sets.ts';

function setsOf(count: number, pairs: readonly (readonly [number, number])[]) {
  const sets = new DisjointSets(count);
  for (const [one, other] of pairs) sets.unite(one, other);
  return sets.sets();
}

it.each([
  ['none of nothing', 0, [], []],
  ['each number alone', 3, [], [[0], [1], [2]]],
  ['chains', 6, [[5, 3] as const, [1, 4] as const, [3, 1] as const], [[0], [1, 3, 4, 5], [2]]],
  ['a number with itself', 2, [[1, 1] as const], [[0], [1]]],
])('has %s', (_, count, pairs, expected) => {
  expect(setsOf(count, pairs)).toEqual(expected);
});

const number = fc.nat(19);

it('has the same sets whatever the order in which they are united', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { maxLength: 30 }), (pairs) => {
      const turned = pairs.toReversed().map(([one, other]) => [other, one] as const);
      expect(setsOf(20, turned)).toEqual(setsOf(20, pairs));
    }),
  );
});

it('puts numbers that name one key into one set, and says which', () => {
  const sets = new DisjointSets(4);
  const byKey = new SetsByKey(sets);
  for (const [at, key] of [
    [1, 'a'],
    [3, 'b'],
    [2, 'a'],
    [3, 'a'],
  ] as const)
    byKey.add(at, key);
  expect(sets.sets()).toEqual([[0], [1, 2, 3]]);
  expect([byKey.rootOf('a'), byKey.rootOf('b')]).toEqual([1, 1]);
  expect(() => byKey.rootOf('c')).toThrow('c');
});
