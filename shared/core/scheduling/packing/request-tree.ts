import { missing } from '../../missing.ts';
import type { PodShape } from './pattern.ts';
import { AllowedNumbers } from './pod-shapes.ts';

/** Shapes of a part of the tree that is not split further. */
const LEAF = 8;

/** A request that exceeds the room by no more than this fits for those who round. */
const NEARLY = 1 - 1e-8;

/** A part of the shapes. */
interface Part {
  /** In a leaf. */
  readonly ids: readonly number[];
  /** Else two. */
  readonly halves: readonly Part[];
  /** By main resource: what each that is open requests at least, and at most. */
  readonly least: Float64Array;
  readonly most: Float64Array;
}

/** What a shape is looked for by. */
export interface Wanted {
  /** By main resource: what a unit of a request counts as. */
  readonly weights: Float64Array;
  /** By resource: no shape that requests more. */
  readonly free: Float64Array;
  /** The launch group that the shape may go to. */
  readonly group: number;
  /** Whether the shape may be taken; asked of shapes that nothing else rules out. */
  readonly mayTake: (id: number) => boolean;
}

/** Shapes that may go to the same launch groups. */
interface Tree {
  /** By launch group: 1 where they may go. */
  readonly allowed: Uint8Array;
  readonly root: Part;
}

/**
 * Shapes by what they request of the main resources: a k-d tree for each set of launch groups that
 * some of them may go to.
 */
export class RequestTree {
  private readonly shapes: readonly PodShape[];
  private readonly main: readonly number[];
  private readonly trees: readonly Tree[];
  private readonly parents = new Map<Part, Part>();
  private readonly leaves = new Map<number, Part>();
  private readonly closed = new Set<number>();
  private best = -1;
  private product = 0;
  /** Work done: shapes and parts looked at. */
  steps = 0;

  constructor(shapes: readonly PodShape[], main: readonly number[], ids: readonly number[]) {
    this.shapes = shapes;
    this.main = main;
    this.trees = this.treesOf(ids);
  }

  private treesOf(ids: readonly number[]): readonly Tree[] {
    const numbers = new AllowedNumbers();
    const together = Map.groupBy(ids, (id) => numbers.of(this.allowedOf(id)));
    return [...together.values()].map((own) => ({
      allowed: this.allowedOf(own[0] ?? missing(0)),
      root: this.partOf(own, 0),
    }));
  }

  private allowedOf(id: number): Uint8Array {
    return (this.shapes[id] ?? missing(id)).allowed;
  }

  private requestOf(id: number, at: number): number {
    const r = this.main[at] ?? missing(at);
    return (this.shapes[id] ?? missing(id)).requests[r] ?? missing(r);
  }

  /** Split in halves by one resource after the other. */
  private partOf(ids: readonly number[], depth: number): Part {
    const { main } = this;
    const bounds = { least: new Float64Array(main.length), most: new Float64Array(main.length) };
    if (ids.length <= LEAF) {
      const leaf: Part = { ids, halves: [], ...bounds };
      for (const id of ids) this.leaves.set(id, leaf);
      this.measure(leaf);
      return leaf;
    }
    const by = depth % main.length;
    const sorted = ids.toSorted((a, b) => this.requestOf(b, by) - this.requestOf(a, by) || a - b);
    const middle = sorted.length >> 1;
    const halves = [sorted.slice(0, middle), sorted.slice(middle)];
    const part: Part = {
      ids: [],
      halves: halves.map((half) => this.partOf(half, depth + 1)),
      ...bounds,
    };
    for (const half of part.halves) this.parents.set(half, part);
    this.measure(part);
    return part;
  }

  /** Says anew what the open shapes of the part request; whether that is something else. */
  private measure({ ids, halves, least, most }: Part): boolean {
    let isChanged = false;
    for (let at = 0; at < this.main.length; at++) {
      let [low, high] = [Number.POSITIVE_INFINITY, 0];
      for (const id of ids) {
        if (this.closed.has(id)) continue;
        const request = this.requestOf(id, at);
        low = Math.min(low, request);
        high = Math.max(high, request);
      }
      for (const half of halves) {
        low = Math.min(low, half.least[at] ?? missing(at));
        high = Math.max(high, half.most[at] ?? missing(at));
      }
      isChanged ||= low !== least[at] || high !== most[at];
      least[at] = low;
      most[at] = high;
    }
    return isChanged;
  }

  /** Passes the shape over until it is opened again. */
  close(id: number): void {
    this.closed.add(id);
    this.measureAbove(id);
  }

  open(id: number): void {
    this.closed.delete(id);
    this.measureAbove(id);
  }

  private measureAbove(id: number): void {
    let part = this.leaves.get(id);
    while (part !== undefined) {
      this.steps++;
      if (!this.measure(part)) return;
      part = this.parents.get(part);
    }
  }

  /** The shape with the largest dot product of its requests and the weights, if any fits. */
  largest(wanted: Wanted): number | undefined {
    this.best = -1;
    this.product = 0;
    for (const { allowed, root } of this.trees) {
      if (allowed[wanted.group] !== 1) continue;
      if (this.boundOf(root, wanted) > this.product) this.visit(root, wanted);
    }
    return this.best < 0 ? undefined : this.best;
  }

  private visit({ ids, halves }: Part, wanted: Wanted): void {
    for (const id of ids) {
      this.steps++;
      if (this.closed.has(id)) continue;
      const { requests } = this.shapes[id] ?? missing(id);
      const product = this.productOf(wanted, requests);
      if (product <= this.product || !wanted.mayTake(id)) continue;
      this.best = id;
      this.product = product;
    }
    const bounds = halves.map((half) => this.boundOf(half, wanted));
    const [first = 0, second = 0] = bounds;
    for (const at of second > first ? [1, 0] : [0, 1]) {
      const half = halves[at];
      if (half !== undefined && (bounds[at] ?? 0) > this.product) this.visit(half, wanted);
    }
  }

  /** No shape of the part that fits has a larger product. */
  private boundOf({ least, most }: Part, { weights, free }: Wanted): number {
    const { main } = this;
    this.steps++;
    let sum = 0;
    for (let at = 0; at < main.length; at++) {
      const rest = free[main[at] ?? missing(at)] ?? missing(at);
      if (rest < (least[at] ?? missing(at)) * NEARLY) return 0;
      sum += (weights[at] ?? missing(at)) * Math.min(rest, most[at] ?? missing(at));
    }
    // What fits may exceed the room by a rounding error.
    return sum / NEARLY;
  }

  private productOf({ weights }: Wanted, requests: Float64Array): number {
    let sum = 0;
    for (const [at, r] of this.main.entries()) {
      sum += (weights[at] ?? missing(at)) * (requests[r] ?? missing(r));
    }
    return sum;
  }
}
