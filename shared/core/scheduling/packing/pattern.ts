import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';

/** Equal demands, as far as filling a node is concerned. */
export interface PodShape {
  readonly id: number;
  /**
   * Per resource of the problem; beyond those, shares of what one node can hold of pods that keep
   * apart from each other, whatever its size: of each such kind every node has room for 1.
   */
  readonly requests: Float64Array;
  /** By launch group: 1 where the demand may go. */
  readonly allowed: Uint8Array;
  /** At most this many on one node; Infinity = as many as fit. */
  readonly perNode: number;
}

/** How many of each shape go on one node. */
export interface Pattern {
  readonly option: LaunchOption;
  readonly shapes: readonly number[];
  readonly amounts: readonly number[];
  /** Sum of the values of what is in it. */
  readonly value: number;
}

/** What a mix makes of what is used of each main resource. */
export function mixed(mix: Float64Array, shares: Float64Array): number {
  let sum = 0;
  for (let r = 0; r < shares.length; r++) sum += (mix[r] ?? missing(r)) * (shares[r] ?? missing(r));
  return sum;
}

/** The launch option's room with places for pods that keep apart. */
export function freeFor(shapes: readonly PodShape[], { free }: LaunchOption): Float64Array {
  const whole = new Float64Array(shapes[0]?.requests.length ?? free.length).fill(1);
  whole.set(free);
  return whole;
}

/** Makes up for shares of a node that do not add up to 1 exactly. */
const ROUNDING = 1e-9;

/**
 * How many requests of so much the rest of a node holds. Amounts of resources are whole numbers and
 * counted exactly: one byte too much, and the pods need a larger node.
 */
export function fitting(rest: number, each: number): number {
  return Math.floor(each < 1 ? rest / each + ROUNDING : rest / each);
}

/** Takes pods of the shape off what is free. */
export function take(free: Float64Array, { requests }: PodShape, amount: number): void {
  for (let r = 0; r < free.length; r++) {
    free[r] = (free[r] ?? missing(r)) - amount * (requests[r] ?? missing(r));
  }
}

/** How many more of the shape the room holds. */
export function howMany(
  { requests, perNode }: PodShape,
  free: Float64Array,
  available: number,
): number {
  let amount = Math.min(available, perNode);
  for (let r = 0; r < requests.length && amount > 0; r++) {
    const each = requests[r] ?? missing(r);
    if (each <= 0) continue;
    // Every node has room for 1 of each kind of pods that keep apart.
    amount = Math.min(amount, fitting(r < free.length ? (free[r] ?? missing(r)) : 1, each));
  }
  return amount;
}
