/** How many pods there are by the value of a label of their nodes. */
export type Counts = ReadonlyMap<string, number>;

/** A division of nodes by a label. */
export interface Domains<Node> {
  /** The same for all divisions by the same key that count the same nodes. */
  readonly text: string;
  readonly key: string;
  readonly isCounted: (node: Node) => boolean;
}

interface Labelled {
  readonly label: (key: string) => string | undefined;
}

/** Pods on nodes, counted by selector and domain. Each count is made once. */
export class PodCounts<Node extends Labelled> {
  private readonly nodes: readonly Node[];
  /** By selector: where the pods are that it matches. */
  private readonly matched = new Map<number, { readonly node: Node; readonly amount: number }[]>();
  /** By division: the value of each node that is counted. */
  private readonly values = new Map<string, ReadonlyMap<Node, string>>();
  private readonly counts = new Map<string, Counts>();

  constructor(nodes: Iterable<Node>) {
    this.nodes = [...nodes];
  }

  /** Pods that these selectors match; before anything is counted. */
  add(node: Node, matching: readonly number[], amount: number): void {
    for (const selector of matching) {
      const known = this.matched.get(selector);
      if (known === undefined) this.matched.set(selector, [{ node, amount }]);
      else known.push({ node, amount });
    }
  }

  /** Pods that the selector matches, by domain; one without such pods is there with 0. */
  by(domains: Domains<Node>, selector: number): Counts {
    const text = `${domains.text}|${selector}`;
    let counts = this.counts.get(text);
    if (counts === undefined) {
      counts = this.count(this.valuesOf(domains), selector);
      this.counts.set(text, counts);
    }
    return counts;
  }

  private valuesOf({ text, key, isCounted }: Domains<Node>): ReadonlyMap<Node, string> {
    const known = this.values.get(text);
    if (known !== undefined) return known;
    const values = new Map<Node, string>();
    for (const node of this.nodes) {
      const value = node.label(key);
      if (value !== undefined && isCounted(node)) values.set(node, value);
    }
    this.values.set(text, values);
    return values;
  }

  private count(values: ReadonlyMap<Node, string>, selector: number): Counts {
    const counts = new Map<string, number>();
    for (const value of values.values()) counts.set(value, 0);
    for (const { node, amount } of this.matched.get(selector) ?? []) {
      const value = values.get(node);
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + amount);
    }
    return counts;
  }
}
