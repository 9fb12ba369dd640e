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

/** The domains of a division, and how many pods are in each. */
export class DomainCounts {
  private readonly values: ReadonlySet<string>;
  private readonly pods: ReadonlyMap<string, number>;
  private domains: ReadonlyMap<number, number> | undefined;

  /** `pods`: of the values that have any. */
  constructor(values: ReadonlySet<string>, pods: ReadonlyMap<string, number>) {
    this.values = values;
    this.pods = pods;
  }

  /** Pods in the domain; undefined: there is no such domain. */
  at(value: string): number | undefined {
    return this.pods.get(value) ?? (this.values.has(value) ? 0 : undefined);
  }

  /** The least of any domain where the pods of `more` come to these, in its domains too. */
  lowestWith(more: DomainCounts): number {
    const domains = new Map(this.domainsByPods());
    const add = (pods: number, amount: number) =>
      domains.set(pods, (domains.get(pods) ?? 0) + amount);
    for (const value of more.values) {
      const own = this.at(value);
      if (own !== undefined) add(own, -1);
      add((own ?? 0) + (more.at(value) ?? 0), 1);
    }
    let lowest = Number.POSITIVE_INFINITY;
    for (const [pods, amount] of domains) if (amount > 0) lowest = Math.min(lowest, pods);
    return lowest;
  }

  /** How many domains have so many pods. */
  private domainsByPods(): ReadonlyMap<number, number> {
    if (this.domains === undefined) {
      const domains = new Map([[0, this.values.size - this.pods.size]]);
      for (const pods of this.pods.values()) domains.set(pods, (domains.get(pods) ?? 0) + 1);
      this.domains = domains;
    }
    return this.domains;
  }
}

/** What a division says of each node, and the values of all. */
interface Division<Node> {
  readonly valueByNode: ReadonlyMap<Node, string>;
  readonly values: ReadonlySet<string>;
}

/** Pods on nodes, counted by selector and domain. Each count is made once. */
export class PodCounts<Node extends Labelled> {
  private readonly nodes: readonly Node[];
  /** By selector: where the pods are that it matches. */
  private readonly matched = new Map<number, { readonly node: Node; readonly amount: number }[]>();
  private readonly divisions = new Map<string, Division<Node>>();
  private readonly counts = new Map<string, DomainCounts>();

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

  /** Pods that the selector matches, by domain. */
  by(domains: Domains<Node>, selector: number): DomainCounts {
    const text = `${domains.text}|${selector}`;
    let counts = this.counts.get(text);
    if (counts === undefined) {
      counts = this.count(this.divisionBy(domains), selector);
      this.counts.set(text, counts);
    }
    return counts;
  }

  private divisionBy({ text, key, isCounted }: Domains<Node>): Division<Node> {
    const known = this.divisions.get(text);
    if (known !== undefined) return known;
    const valueByNode = new Map<Node, string>();
    for (const node of this.nodes) {
      const value = node.label(key);
      if (value !== undefined && isCounted(node)) valueByNode.set(node, value);
    }
    const division = { valueByNode, values: new Set(valueByNode.values()) };
    this.divisions.set(text, division);
    return division;
  }

  private count({ valueByNode, values }: Division<Node>, selector: number): DomainCounts {
    const pods = new Map<string, number>();
    for (const { node, amount } of this.matched.get(selector) ?? []) {
      const value = valueByNode.get(node);
      if (value !== undefined) pods.set(value, (pods.get(value) ?? 0) + amount);
    }
    return new DomainCounts(values, pods);
  }
}
