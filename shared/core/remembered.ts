/**
 * Results of a pure function of a list and a text, kept as long as the list: what is asked again
 * for the same list is answered with the same object. Of each list the last few texts are kept.
 */
export class Remembered<List extends object, Value> {
  private readonly byList = new WeakMap<List, readonly (readonly [string, Value])[]>();
  private readonly textsMax: number;

  constructor(textsMax: number) {
    this.textsMax = textsMax;
  }

  of(list: List, text: string, make: () => Value): Value {
    const before = this.byList.get(list) ?? [];
    const found = before.find(([each]) => each === text);
    if (found !== undefined) {
      if (found !== before[0]) this.keep(list, found, before);
      return found[1];
    }
    const made = make();
    this.keep(list, [text, made], this.byList.get(list) ?? []);
    return made;
  }

  private keep(
    list: List,
    entry: readonly [string, Value],
    others: readonly (readonly [string, Value])[],
  ): void {
    const rest = others.filter(([text]) => text !== entry[0]);
    this.byList.set(list, [entry, ...rest].slice(0, this.textsMax));
  }
}
