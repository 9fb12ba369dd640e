import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { missing } from '../../../shared/core/missing.ts';
import type { PodShape } from '../../../shared/core/scheduling/packing/pattern.ts';
import { RequestTree, type Wanted } from '../../../shared/core/scheduling/packing/request-tree.ts';

const MAIN = [0, 2];

/** `groups`: by bits, the launch groups of each; the first by default. */
function shapesOf(
  requests: readonly (readonly number[])[],
  groups: readonly number[] = [],
): readonly PodShape[] {
  return requests.map((each, id) => ({
    id,
    requests: Float64Array.from(each),
    allowed: Uint8Array.from([1, 2, 4], (bit) => ((groups[id] ?? 1) & bit) / bit),
    perNode: Number.POSITIVE_INFINITY,
  }));
}

function productOf({ requests }: PodShape, { weights }: Wanted): number {
  return MAIN.reduce(
    (sum, r, at) => sum + (weights[at] ?? missing(at)) * (requests[r] ?? missing(r)),
    0,
  );
}

/** Up to 60 shapes with three resources, of which the second does not count; each for some groups. */
const cases = fc.record({
  groups: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 60, maxLength: 60 }),
  group: fc.nat(2),
  requests: fc.array(fc.tuple(fc.nat(40), fc.nat(9), fc.nat(40)), { minLength: 1, maxLength: 60 }),
  weights: fc.tuple(fc.nat(9), fc.nat(9)),
  free: fc.tuple(fc.nat(50), fc.nat(9), fc.nat(50)),
  closed: fc.array(fc.nat(59), { maxLength: 30 }),
  opened: fc.array(fc.nat(59), { maxLength: 10 }),
});

describe('shapes by their requests', () => {
  it('has the one with the largest product of those that fit and are open', () => {
    fc.assert(
      fc.property(cases, ({ requests, groups, group, weights, free, closed, opened }) => {
        const shapes = shapesOf(requests, groups);
        const ids = shapes.map(({ id }) => id);
        const tree = new RequestTree(shapes, MAIN, ids);
        const known = (id: number) => id < shapes.length;
        for (const id of closed.filter(known)) tree.close(id);
        for (const id of opened.filter(known)) tree.open(id);
        const out = new Set(closed.filter((id) => !opened.includes(id)));
        const fits = (id: number) =>
          (requests[id] ?? missing(id)).every((each, r) => each <= (free[r] ?? missing(r)));
        const wanted: Wanted = {
          weights: Float64Array.from(weights),
          free: Float64Array.from(free),
          group,
          mayTake: fits,
        };
        const all = shapes.filter(
          ({ id, allowed }) => allowed[group] === 1 && !out.has(id) && fits(id),
        );
        const products = all.map((shape) => productOf(shape, wanted));
        const most = Math.max(0, ...products);
        const found = tree.largest(wanted);
        if (most === 0) expect(found).toBeUndefined();
        else expect(productOf(shapes[found ?? -1] ?? missing(0), wanted)).toBe(most);
        expect(found === undefined || all.some(({ id }) => id === found)).toBe(true);
      }),
      { numRuns: 300, seed: 4 },
    );
  });

  it('looks at few of many', () => {
    const requests = Array.from({ length: 4096 }, (_, at) => [1 + (at % 64), 1, 1 + (at >> 6)]);
    const shapes = shapesOf(requests);
    const tree = new RequestTree(
      shapes,
      MAIN,
      shapes.map(({ id }) => id),
    );
    const free = Float64Array.from([20, 9, 50]);
    const mayTake = (id: number) =>
      (requests[id] ?? missing(id)).every((each, r) => each <= (free[r] ?? missing(r)));
    const found = tree.largest({ weights: Float64Array.from([1, 2]), free, group: 0, mayTake });
    expect(requests[found ?? -1]).toEqual([20, 1, 50]);
    expect(tree.steps).toBeLessThan(200);
  });
});
