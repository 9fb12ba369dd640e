/** The objects of one kind, with their list in the order of keys. */
export class KindList<Item> {
  private readonly byKey = new Map<string, Item>();
  /** Keys in order, but for those that have come since. */
  private keys: readonly string[] = [];
  private readonly positions = new Map<string, number>();
  private list: Item[] = [];
  private fresh: string[] = [];
  private isShrunk = false;
  /** Somebody has the list: the next change makes a copy. */
  private isShared = false;

  get(key: string): Item | undefined {
    return this.byKey.get(key);
  }

  set(key: string, object: Item): void {
    const isNew = !this.byKey.has(key);
    this.byKey.set(key, object);
    if (isNew) this.fresh.push(key);
    const position = this.positions.get(key);
    if (isNew || position === undefined || this.isShrunk) return;
    if (this.isShared) this.list = this.list.slice();
    this.isShared = false;
    this.list[position] = object;
  }

  delete(key: string): void {
    if (this.byKey.delete(key)) this.isShrunk = true;
  }

  /** Never changes once it is handed out. */
  objects(): readonly Item[] {
    if (this.isShrunk || this.fresh.length > 0) this.rebuild();
    this.isShared = true;
    return this.list;
  }

  /** Sorting is cheap where most is in order. */
  private rebuild(): void {
    const kept = this.isShrunk ? this.keys.filter((key) => this.byKey.has(key)) : this.keys;
    const fresh = this.fresh.filter((key) => this.byKey.has(key));
    // A name that went and came again is in both.
    this.keys = [...new Set([...kept, ...fresh.sort()])].sort();
    this.list = this.keys.flatMap((key) => this.byKey.get(key) ?? []);
    this.positions.clear();
    for (const [index, key] of this.keys.entries()) this.positions.set(key, index);
    this.fresh = [];
    this.isShrunk = false;
  }
}
