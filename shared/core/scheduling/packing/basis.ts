import { missing } from '../../missing.ts';
import type { Pattern } from './pattern.ts';

/**
 * The basis of a covering problem's linear programme: as many patterns as there are rows. Its
 * inverse is dense: rows are few hundreds.
 */
export interface Basis {
  readonly size: number;
  /** Row-major inverse of the basis matrix. */
  readonly inverse: Float64Array;
  /** How much of each basic pattern is used. */
  readonly use: Float64Array;
  readonly duals: Float64Array;
}

/** Each row covered by a pattern of its own: nodes filled with nothing else. */
export function startBasis(
  demand: Float64Array,
  starts: readonly Pattern[],
  nodePrice: number,
): Basis {
  const size = demand.length;
  const inverse = new Float64Array(size * size);
  const use = new Float64Array(size);
  const duals = new Float64Array(size);
  for (const [row, { option, amounts }] of starts.entries()) {
    const amount = amounts[0] ?? missing(0);
    inverse[row * size + row] = 1 / amount;
    use[row] = (demand[row] ?? missing(row)) / amount;
    duals[row] = (option.price + nodePrice) / amount;
  }
  return { size, inverse, use, duals };
}

/**
 * Brings a pattern into the basis. Returns the row of the one that it takes the place of; −1: it
 * cannot improve anything.
 */
export function pivot(basis: Basis, pattern: Pattern, gain: number): number {
  const { size, inverse, use, duals } = basis;
  const direction = new Float64Array(size);
  for (const [index, shape] of pattern.shapes.entries()) {
    const amount = pattern.amounts[index] ?? missing(index);
    for (let row = 0; row < size; row++) {
      direction[row] =
        (direction[row] ?? missing(row)) +
        (inverse[row * size + shape] ?? missing(row * size + shape)) * amount;
    }
  }
  let leaving = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let row = 0; row < size; row++) {
    const step = direction[row] ?? missing(row);
    if (step <= 1e-9) continue;
    const ratio = (use[row] ?? missing(row)) / step;
    if (ratio < least - 1e-12) {
      least = ratio;
      leaving = row;
    }
  }
  if (leaving < 0) return -1;
  const scale = direction[leaving] ?? missing(leaving);
  const base = leaving * size;
  for (let column = 0; column < size; column++) {
    const entry = (inverse[base + column] ?? missing(base + column)) / scale;
    inverse[base + column] = entry;
    duals[column] = (duals[column] ?? missing(column)) - gain * entry;
  }
  for (let row = 0; row < size; row++) {
    const factor = direction[row] ?? missing(row);
    if (row === leaving || Math.abs(factor) < 1e-12) continue;
    const from = row * size;
    for (let column = 0; column < size; column++) {
      inverse[from + column] =
        (inverse[from + column] ?? missing(from + column)) -
        factor * (inverse[base + column] ?? missing(base + column));
    }
    use[row] = Math.max(0, (use[row] ?? missing(row)) - factor * least);
  }
  use[leaving] = least;
  return leaving;
}
