import { missing } from './missing.ts';

/** Numbers from 0 on in sets that have none in common; each set is named by its least number. */
export class DisjointSets {
  private readonly parents: number[];

  /** Each of so many numbers alone. */
  constructor(count: number) {
    this.parents = Array.from({ length: count }, (_, at) => at);
  }

  /** The least number of the set. */
  rootOf(at: number): number {
    let root = at;
    for (let next = this.parentOf(root); next !== root; next = this.parentOf(next)) root = next;
    this.parents[at] = root;
    return root;
  }

  unite(one: number, other: number): void {
    const [a, b] = [this.rootOf(one), this.rootOf(other)];
    this.parents[Math.max(a, b)] = Math.min(a, b);
  }

  /** The sets, each with its numbers from small to large, in the order of their least ones. */
  sets(): readonly (readonly number[])[] {
    const all = Map.groupBy(this.parents.keys(), (at) => this.rootOf(at));
    return [...all.values()];
  }

  private parentOf(at: number): number {
    return this.parents[at] ?? missing(at);
  }
}

/** Puts the numbers that name the same key into one set. */
export class SetsByKey {
  private readonly sets: DisjointSets;
  private readonly first = new Map<unknown, number>();

  constructor(sets: DisjointSets) {
    this.sets = sets;
  }

  add(at: number, key: unknown): void {
    const first = this.first.get(key);
    if (first === undefined) this.first.set(key, at);
    else this.sets.unite(first, at);
  }

  /** Of the set of the numbers that named the key. */
  rootOf(key: unknown): number {
    return this.sets.rootOf(this.first.get(key) ?? missing(String(key)));
  }
}
