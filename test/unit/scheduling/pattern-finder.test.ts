import { describe, expect, it } from 'vitest';
import { missing } from '../../../shared/core/missing.ts';
import type { Pattern, PodShape } from '../../../shared/core/scheduling/packing/pattern.ts';
import { PatternFinder } from '../../../shared/core/scheduling/packing/pattern-finder.ts';
import type { LaunchOption } from '../../../shared/core/scheduling/problem/launch-options.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';

const OPTION = { price: 1, free: Float64Array.from([97, 89, 8]), group: { id: 0 } } as LaunchOption;
const random = numbers(3);

/** Pods with cpu, memory and up to 4 devices. */
const SHAPES = Array.from({ length: 14 }, (_, id): PodShape => {
  const requests = Float64Array.from([
    5 + below(30, random),
    5 + below(30, random),
    below(5, random),
  ]);
  return { id, requests, allowed: Uint8Array.of(1), perNode: Number.POSITIVE_INFINITY };
});
const VALUES = Float64Array.from(SHAPES, ({ requests }) =>
  requests.reduce((sum, each) => sum + each, 10 + below(9, random)),
);
const LEFT = new Float64Array(SHAPES.length).fill(2);

/** The most that any pattern is worth, by looking at all of them. */
function most(from = 0, free: readonly number[] = [...OPTION.free]): number {
  const shape = SHAPES[from];
  if (shape === undefined) return 0;
  let best = 0;
  for (let amount = 0; amount <= 2; amount++) {
    const rest = free.map((each, r) => each - amount * (shape.requests[r] ?? missing(r)));
    if (rest.some((each) => each < 0)) break;
    best = Math.max(best, amount * (VALUES[from] ?? missing(from)) + most(from + 1, rest));
  }
  return best;
}

const worthOf = ({ shapes, amounts }: Pattern) =>
  shapes.reduce((sum, id, at) => sum + (VALUES[id] ?? 0) * (amounts[at] ?? 0), 0);

describe.each([true, false])('a search for the best pattern of a node, tight: %s', (isTight) => {
  const finder = () => new PatternFinder(SHAPES, [0, 1, 2], VALUES, LEFT, isTight);

  it('finds it where it may look at all', () => {
    expect(finder().search(OPTION, 1e6)?.value).toBeCloseTo(most());
    expect(finder().ceiling(OPTION)).toBeGreaterThanOrEqual(most());
  });

  it('keeps those that were the best before it', () => {
    const greedy = finder().best(OPTION)?.value ?? 0;
    const found = finder().searchAbove(OPTION, 1e6, greedy, 3);
    expect(found.map(worthOf)).toEqual(found.map(({ value }) => expect.closeTo(value)));
    expect(found.map(worthOf)).toEqual(found.map(worthOf).toSorted((a, b) => a - b));
    expect(found.at(-1)?.value).toBeCloseTo(most());
  });

  it('counts the searches that did not end', () => {
    const counted = finder();
    counted.search(OPTION, 1e6);
    expect(counted.unended).toBe(0);
    counted.search(OPTION, SHAPES.length);
    expect(counted.unended).toBe(1);
  });
});
