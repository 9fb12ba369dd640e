import { missing } from '../../missing.ts';
import type { PodClass } from '../problem/problem.ts';
import type { SearchState } from '../search/search-state.ts';

/** A stretch of the queue with pods of one class. */
export interface Stretch {
  readonly podClass: PodClass;
  readonly count: number;
}

/** kube-scheduler's queue: the pods that a plan places, by priority and then by age. */
export class Queue {
  readonly stretches: readonly Stretch[];
  /** By stretch: pods that are not bound yet. */
  private readonly left: Int32Array;
  /** By class: the same, and the place of its first stretch that may have some left. */
  private readonly leftOfClass: Int32Array;
  private readonly first: Int32Array;
  private readonly placesOf: readonly number[][];

  private constructor(stretches: readonly Stretch[], classes: number) {
    this.stretches = stretches;
    this.left = Int32Array.from(stretches, ({ count }) => count);
    this.leftOfClass = new Int32Array(classes);
    this.first = new Int32Array(classes);
    const placesOf: number[][] = Array.from({ length: classes }, () => []);
    for (const [place, { podClass, count }] of stretches.entries()) {
      this.leftOfClass[podClass.id] =
        (this.leftOfClass[podClass.id] ?? missing(podClass.id)) + count;
      placesOf[podClass.id]?.push(place);
    }
    this.placesOf = placesOf;
  }

  static of(state: SearchState): Queue {
    const { problem } = state.context;
    const classOf = new Map<object, PodClass>();
    for (const podClass of problem.classes) {
      const placed = podClass.pods.length - state.leftOf(podClass);
      for (const pod of podClass.pods.slice(0, placed)) classOf.set(pod, podClass);
    }
    const stretches: { podClass: PodClass; count: number }[] = [];
    for (const pod of problem.demand.pods) {
      const podClass = classOf.get(pod);
      if (podClass === undefined) continue;
      const last = stretches.at(-1);
      if (last?.podClass === podClass) last.count++;
      else stretches.push({ podClass, count: 1 });
    }
    return new Queue(stretches, problem.classes.length);
  }

  /** The same pods in another order, each a stretch of its own. */
  reordered(order: (pods: readonly PodClass[]) => readonly PodClass[]): Queue {
    const pods = this.stretches.flatMap(({ podClass, count }) =>
      Array.from({ length: count }, () => podClass),
    );
    const stretches = order(pods).map((podClass) => ({ podClass, count: 1 }));
    return new Queue(stretches, this.leftOfClass.length);
  }

  /** The same queue with nothing bound. */
  renewed(): Queue {
    return new Queue(this.stretches, this.leftOfClass.length);
  }

  /** Of the classes asked for: the places of stretches with pods left, in the queue's order. */
  places(isAsked: (podClass: PodClass) => boolean): readonly number[] {
    const places: number[] = [];
    for (const [id, own] of this.placesOf.entries()) {
      const [first] = own;
      if (first === undefined || (this.leftOfClass[id] ?? missing(id)) === 0) continue;
      if (!isAsked((this.stretches[first] ?? missing(first)).podClass)) continue;
      for (const place of own) if (this.leftAt(place) > 0) places.push(place);
    }
    return places.sort((a, b) => a - b);
  }

  leftAt(place: number): number {
    return this.left[place] ?? missing(place);
  }

  leftOf({ id }: PodClass): number {
    return this.leftOfClass[id] ?? missing(id);
  }

  /** Takes one pod out that was bound. */
  takeAt(place: number): void {
    const { id } = (this.stretches[place] ?? missing(place)).podClass;
    this.left[place] = this.leftAt(place) - 1;
    this.leftOfClass[id] = (this.leftOfClass[id] ?? missing(id)) - 1;
  }

  /** Takes the first pods of a class out, at most so many; returns how many there were. */
  take(podClass: PodClass, amount: number): number {
    const { id } = podClass;
    const taken = Math.min(amount, this.leftOf(podClass));
    this.leftOfClass[id] = this.leftOf(podClass) - taken;
    const places = this.placesOf[id] ?? [];
    for (let rest = taken; rest > 0; ) {
      const place = places[this.first[id] ?? missing(id)] ?? missing(this.first[id] ?? missing(id));
      const some = Math.min(rest, this.leftAt(place));
      this.left[place] = this.leftAt(place) - some;
      rest -= some;
      if (this.leftAt(place) === 0) this.first[id] = (this.first[id] ?? missing(id)) + 1;
    }
    return taken;
  }
}
