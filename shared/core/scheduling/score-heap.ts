interface Entry {
  readonly site: number;
  readonly version: number;
  readonly score: number;
}

/** Greatest score first; of equal scores the site that joined earlier. */
export class ScoreHeap {
  private readonly entries: Entry[] = [];

  first(): Entry | undefined {
    return this.entries[0];
  }

  push(site: number, version: number, score: number): void {
    const { entries } = this;
    const added = { site, version, score };
    let at = entries.push(added) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = entries[parent] as Entry;
      if (!isBefore(added, other)) break;
      entries[at] = other;
      at = parent;
    }
    entries[at] = added;
  }

  removeFirst(): void {
    const { entries } = this;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return;
    let at = 0;
    for (let child = 1; child < entries.length; child = 2 * at + 1) {
      const right = entries[child + 1];
      if (right !== undefined && isBefore(right, entries[child] as Entry)) child++;
      const other = entries[child] as Entry;
      if (!isBefore(other, last)) break;
      entries[at] = other;
      at = child;
    }
    entries[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.score > b.score || (a.score === b.score && a.site < b.site);
}
