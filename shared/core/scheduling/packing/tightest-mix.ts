import { missing } from '../../missing.ts';

/** Weight moved between resources of a mix, at first and at last. */
const FIRST_MOVE = 1 / 8;
const LAST_MOVE = 1 / 128;

/** What one of each candidate uses of a node, by the mix. */
export function usesBy(mix: Float64Array, shares: Float64Array): Float64Array {
  const width = mix.length;
  const uses = new Float64Array(shares.length / width);
  for (let at = 0; at < uses.length; at++) {
    let use = 0;
    for (let r = 0; r < width; r++)
      use += (mix[r] ?? missing(r)) * (shares[at * width + r] ?? missing(at));
    uses[at] = Math.max(use, 1e-9);
  }
  return uses;
}

/** The most value for what is used by the mix: no pattern of a node is worth more. */
function densest(worth: Float64Array, uses: Float64Array): number {
  let most = 0;
  for (let at = 0; at < worth.length; at++) {
    const density = (worth[at] ?? missing(at)) / (uses[at] ?? missing(at));
    if (density > most) most = density;
  }
  return most;
}

/** Mixes with so much weight moved: between two resources, and from one to all or all to one. */
function moves(mix: Float64Array, step: number): readonly Float64Array[] {
  const found: Float64Array[] = [];
  const all = [...mix.keys()];
  const move = (from: readonly number[], to: readonly number[]): void => {
    const moved = mix.slice();
    for (const r of from) moved[r] = (moved[r] ?? missing(r)) - step / from.length;
    for (const r of to) moved[r] = (moved[r] ?? missing(r)) + step / to.length;
    if (moved.every((weight) => weight >= 0)) found.push(moved);
  };
  for (const one of all) {
    const others = all.filter((each) => each !== one);
    for (const other of others) move([one], [other]);
    if (others.length < 2) continue;
    move([one], others);
    move(others, [one]);
  }
  return found;
}

/**
 * The mix of resources by which a node's patterns are bounded best. From the best of `mixes` on,
 * weight is moved from one resource to another in ever smaller steps: the bound is convex in it.
 * `shares` are those of a node that one of each candidate asks for, one candidate after the other.
 */
export function tightestMix(
  worth: Float64Array,
  shares: Float64Array,
  mixes: readonly Float64Array[],
): Float64Array {
  let best = mixes[0] ?? missing(0);
  let least = Number.POSITIVE_INFINITY;
  const look = (mix: Float64Array): boolean => {
    const bound = densest(worth, usesBy(mix, shares));
    if (bound >= least) return false;
    best = mix;
    least = bound;
    return true;
  };
  for (const mix of mixes) look(mix);
  for (let step = FIRST_MOVE; step >= LAST_MOVE; ) {
    if (!moves(best, step).some(look)) step /= 2;
  }
  return best;
}
