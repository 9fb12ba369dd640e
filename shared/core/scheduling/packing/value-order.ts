import { missing } from '../../missing.ts';
import type { PodShape } from './pattern.ts';

/** Shapes that are passed over together where none of them fits. */
export const BLOCK = 32;

/** Of fewer shapes each is looked at. */
const BLOCKS_LEAST = 8;

/** A request that exceeds the room by no more than this fits for those who round. */
const NEARLY = 1 - 1e-8;

/** More moves a shape than so many, and sorting from the beginning is shorter. */
const MOVES_EACH = 8;

/** Numbers by falling key, equal ones by number: quickly where they nearly are. */
export function sortByKey(all: Int32Array, keys: Float64Array): void {
  if (isSorted(all, keys)) return;
  all.sort((a, b) => (keys[b] ?? missing(b)) - (keys[a] ?? missing(a)) || a - b);
}

/**
 * Shapes by falling key, equal ones by number. Keys hardly change from one set of values to the
 * next, nor from one kind of node to another: an order is sorted from one that is known.
 */
export class ValueOrder {
  /** Those with a key above 0 first. */
  readonly all: Int32Array;
  /** Those with a key above 0. */
  ids: Int32Array;
  /** By block of `BLOCK` of the ids: what each asks for at least of the main resources. */
  leasts = new Float64Array(0);

  constructor(all: Int32Array) {
    this.all = all;
    this.ids = all;
  }

  /** Keys are by number. */
  sort(keys: Float64Array): void {
    const { all } = this;
    sortByKey(all, keys);
    let count = 0;
    while (count < all.length && (keys[all[count] ?? missing(count)] ?? missing(count)) > 0)
      count++;
    this.ids = all.subarray(0, count);
  }

  /** Learns what the shapes of each block ask for at least of each main resource. */
  bound(shapes: readonly PodShape[], main: readonly number[]): void {
    const { ids } = this;
    const width = main.length;
    const blocks = Math.ceil(ids.length / BLOCK);
    const leasts = new Float64Array(blocks * width);
    this.leasts = leasts;
    if (blocks < BLOCKS_LEAST) return;
    leasts.fill(Number.POSITIVE_INFINITY);
    for (let at = 0; at < ids.length; at++) {
      const { requests } = shapes[ids[at] ?? missing(at)] ?? missing(at);
      const base = Math.floor(at / BLOCK) * width;
      for (let r = 0; r < width; r++) {
        const asked = requests[main[r] ?? missing(r)] ?? missing(r);
        if (asked < (leasts[base + r] ?? missing(base + r))) leasts[base + r] = asked;
      }
    }
  }

  /** Whether no shape of the block fits in what is free. */
  isTooLarge(block: number, free: Float64Array, main: readonly number[]): boolean {
    const { leasts } = this;
    const base = block * main.length;
    for (let r = 0; r < main.length; r++) {
      const rest = free[main[r] ?? missing(r)] ?? missing(r);
      if (rest < (leasts[base + r] ?? missing(base + r)) * NEARLY) return true;
    }
    return false;
  }

  /** Pods of no shape of the block are left. */
  close(block: number): void {
    this.leasts[block * (this.leasts.length / Math.ceil(this.ids.length / BLOCK))] =
      Number.POSITIVE_INFINITY;
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
