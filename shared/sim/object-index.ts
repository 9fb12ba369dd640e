/** Objects by something that they say, such as their owners; each bucket in the order of keys. */
export class ObjectIndex<Item> {
  private readonly saidBy: (object: Item) => readonly string[];
  private readonly buckets = new Map<string, Map<string, Item>>();
  private readonly nothing: readonly Item[] = [];
  /** Buckets as they are handed out, until their next change. */
  private readonly lists = new Map<string, readonly Item[]>();

  constructor(saidBy: (object: Item) => readonly string[]) {
    this.saidBy = saidBy;
  }

  /** The same list as long as none of its objects changes. */
  at(said: string): readonly Item[] {
    const known = this.lists.get(said);
    if (known !== undefined) return known;
    const bucket = this.buckets.get(said);
    if (bucket === undefined) return this.nothing;
    const list = [...bucket].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    this.lists.set(said, list);
    return list;
  }

  /** The version before is undefined for a new object, the one after for one that is gone. */
  change(key: string, before: Item | undefined, after: Item | undefined): void {
    const said = after === undefined ? [] : this.saidBy(after);
    for (const each of before === undefined ? [] : this.saidBy(before)) {
      if (!said.includes(each)) this.remove(each, key);
    }
    for (const each of after === undefined ? [] : said) {
      const bucket = this.buckets.get(each) ?? new Map<string, Item>();
      if (after !== undefined) bucket.set(key, after);
      this.buckets.set(each, bucket);
      this.lists.delete(each);
    }
  }

  private remove(said: string, key: string): void {
    const bucket = this.buckets.get(said);
    bucket?.delete(key);
    if (bucket?.size === 0) this.buckets.delete(said);
    this.lists.delete(said);
  }
}
