import { missing } from '../../missing.ts';

/** More moves a shape than so many, and sorting from the beginning is shorter. */
const MOVES_EACH = 8;

/**
 * Shapes by falling key, equal ones by number. Keys hardly change from one set of values to the
 * next, nor from one kind of node to another: an order is sorted from one that is known.
 */
export class ValueOrder {
  /** Those with a key above 0 first. */
  readonly all: Int32Array;
  /** Those with a key above 0. */
  ids: Int32Array;

  constructor(all: Int32Array) {
    this.all = all;
    this.ids = all;
  }

  /** Keys are by number. */
  sort(keys: Float64Array): void {
    const { all } = this;
    if (!isSorted(all, keys)) {
      const order = (a: number, b: number) =>
        (keys[b] ?? missing(b)) - (keys[a] ?? missing(a)) || a - b;
      all.sort(order);
    }
    let count = 0;
    while (count < all.length && (keys[all[count] ?? missing(count)] ?? missing(count)) > 0)
      count++;
    this.ids = all.subarray(0, count);
  }
}

/** Sorts by insertion; false: it was given up, since too much is elsewhere. */
function isSorted(all: Int32Array, keys: Float64Array): boolean {
  let moves = MOVES_EACH * all.length;
  for (let at = 1; at < all.length; at++) {
    const id = all[at] ?? missing(at);
    const key = keys[id] ?? missing(id);
    let to = at;
    for (; to > 0; to--) {
      const before = all[to - 1] ?? missing(to - 1);
      const other = keys[before] ?? missing(before);
      if (other > key || (other === key && before < id)) break;
      all[to] = before;
    }
    all[to] = id;
    moves -= at - to;
    if (moves < 0) return false;
  }
  return true;
}
