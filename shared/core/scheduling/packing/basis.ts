import { missing } from '../../missing.ts';
import type { Pattern } from './pattern.ts';

/** The basis of a covering problem's linear programme: as many patterns as there are rows. */
export interface Basis {
  readonly size: number;
  /** Inverse of the basis matrix, one column after the other. */
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

/** By row: how much of its basic pattern one node of the new pattern takes the place of. */
function directionOf({ size, inverse }: Basis, { shapes, amounts }: Pattern): Float64Array {
  const direction = new Float64Array(size);
  for (const [index, shape] of shapes.entries()) {
    const amount = amounts[index] ?? missing(index);
    const base = shape * size;
    for (let row = 0; row < size; row++) {
      direction[row] =
        (direction[row] ?? missing(row)) + (inverse[base + row] ?? missing(base + row)) * amount;
    }
  }
  return direction;
}

/**
 * Brings a pattern into the basis. Returns the row of the one that it takes the place of; −1: it
 * cannot improve anything. Most of the inverse of many rows is 0: that stays as it is.
 */
export function pivot(basis: Basis, pattern: Pattern, gain: number): number {
  const { size, inverse, use, duals } = basis;
  const direction = directionOf(basis, pattern);
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
  const rows: number[] = [];
  for (let row = 0; row < size; row++) {
    const factor = direction[row] ?? missing(row);
    if (row === leaving || Math.abs(factor) < 1e-12) continue;
    rows.push(row);
    use[row] = Math.max(0, (use[row] ?? missing(row)) - factor * least);
  }
  use[leaving] = least;
  for (let column = 0, at = leaving; column < size; column++, at += size) {
    const before = inverse[at] ?? missing(at);
    if (before === 0) continue;
    const entry = before / scale;
    inverse[at] = entry;
    duals[column] = (duals[column] ?? missing(column)) - gain * entry;
    const base = column * size;
    for (const row of rows) {
      inverse[base + row] =
        (inverse[base + row] ?? missing(base + row)) - (direction[row] ?? missing(row)) * entry;
    }
  }
  return leaving;
}
