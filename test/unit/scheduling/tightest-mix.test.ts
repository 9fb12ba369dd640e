import { describe, expect, it } from 'vitest';
import { missing } from '../../../shared/core/missing.ts';
import { tightestMix, usesBy } from '../../../shared/core/scheduling/packing/tightest-mix.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';

const MIXES = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
  [0.6, 0.2, 0.2],
].map((mix) => Float64Array.from(mix));

function boundBy(mix: Float64Array, worth: Float64Array, shares: Float64Array): number {
  const uses = usesBy(mix, shares);
  return Math.max(...worth.map((each, at) => each / (uses[at] ?? missing(at))));
}

describe('the tightest mix of resources', () => {
  it('is found between those that are given', () => {
    // One pod for each third of a node: by the even mix a whole node is worth 3.
    const worth = Float64Array.from([1, 1, 1]);
    const shares = Float64Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1]);
    const mix = tightestMix(worth, shares, MIXES);
    expect(boundBy(mix, worth, shares)).toBeCloseTo(3, 1);
    expect(Math.min(...MIXES.map((each) => boundBy(each, worth, shares)))).toBeCloseTo(5);
  });

  it('bounds no worse than any of them, and no pattern is worth more', () => {
    const random = numbers(5);
    for (let round = 0; round < 50; round++) {
      const worth = Float64Array.from({ length: 12 }, () => 1 + below(100, random));
      const shares = Float64Array.from({ length: 36 }, () => (1 + below(50, random)) / 100);
      const mix = tightestMix(worth, shares, MIXES);
      expect(mix.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1);
      const bound = boundBy(mix, worth, shares);
      for (const each of MIXES) expect(bound).toBeLessThanOrEqual(boundBy(each, worth, shares));
      for (let first = 0; first < 12; first++) {
        for (let second = first; second < 12; second++) {
          const fits = [0, 1, 2].every(
            (r) => (shares[first * 3 + r] ?? 1) + (shares[second * 3 + r] ?? 1) <= 1,
          );
          if (!fits) continue;
          expect((worth[first] ?? 0) + (worth[second] ?? 0)).toBeLessThanOrEqual(bound + 1e-9);
        }
      }
    }
  });
});
