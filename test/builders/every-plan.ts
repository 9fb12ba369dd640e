import { ZONES } from './scheduling.ts';

/** How the pods of a group stand to each other, in new nodes only. */
export const BONDS = ['none', 'apart', 'apartByZone', 'spreadByZone', 'together'] as const;

export type Bond = (typeof BONDS)[number];

export interface TinyGroup {
  readonly bond: Bond;
  /** Pods of the group. */
  readonly count: number;
  /** In milli-cores. */
  readonly cpu: number;
  readonly memoryGi: number;
  readonly priority: number;
  /** The only zone that the pods may run in. Not for groups that spread by zone. */
  readonly zone: string | undefined;
}

export interface TinyType {
  readonly name: string;
  readonly cpu: number;
  readonly memoryGi: number;
  /** On-demand price by zone, USD an hour. */
  readonly prices: Readonly<Record<string, number>>;
}

/** A problem small enough to look at all its plans. */
export interface TinyCase {
  readonly groups: readonly TinyGroup[];
  readonly types: readonly TinyType[];
  readonly nodesMax: number;
}

/** What plans are compared by: pods placed, by priority from high to low, then the price. */
export interface Worth {
  readonly placed: readonly number[];
  readonly price: number;
}

export function prioritiesOf({ groups }: TinyCase): readonly number[] {
  return [...new Set(groups.map(({ priority }) => priority))].sort((a, b) => b - a);
}

export function isBetter(a: Worth, b: Worth): boolean {
  for (const [index, count] of a.placed.entries()) {
    if (count !== b.placed[index]) return count > (b.placed[index] ?? 0);
  }
  return a.price < b.price;
}

/** Pods by the number of their group. */
type Content = readonly number[];

function cheapest({ groups, types }: TinyCase, content: Content, zone: string): number {
  const sum = (of: (group: TinyGroup) => number) =>
    content.reduce((all, id) => all + of(groups[id] as TinyGroup), 0);
  const [cpu, memoryGi] = [sum((group) => group.cpu), sum((group) => group.memoryGi)];
  if (content.some((id) => (groups[id]?.zone ?? zone) !== zone)) return Number.POSITIVE_INFINITY;
  const holds = types.filter((type) => type.cpu * 1000 >= cpu && type.memoryGi >= memoryGi);
  return Math.min(...holds.map((type) => type.prices[zone] ?? Number.POSITIVE_INFINITY));
}

function keepsBonds({ groups }: TinyCase, bins: readonly Content[], zones: readonly string[]) {
  return groups.every(({ bond }, id) => {
    const perNode = bins.map((content) => content.filter((each) => each === id).length);
    const perZone = ZONES.map((zone) =>
      perNode.reduce((sum, count, bin) => sum + (zones[bin] === zone ? count : 0), 0),
    );
    switch (bond) {
      case 'apart':
        return Math.max(0, ...perNode) <= 1;
      case 'apartByZone':
        return Math.max(...perZone) <= 1;
      case 'spreadByZone':
        return Math.max(...perZone) - Math.min(...perZone) <= 1;
      case 'together':
        return perNode.filter((count) => count > 0).length <= 1;
      default:
        return true;
    }
  });
}

/** Every way to say in which zone each of the nodes is. */
function* zonings(nodes: number): Generator<readonly string[]> {
  if (nodes === 0) yield [];
  else for (const rest of zonings(nodes - 1)) for (const zone of ZONES) yield [...rest, zone];
}

/** Every way to put pods on nodes that have no order, or to leave them out. */
function* groupings(pods: readonly number[], nodesMax: number): Generator<readonly Content[]> {
  const [first, ...others] = pods;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const bins of groupings(others, nodesMax)) {
    yield bins;
    if (bins.length < nodesMax) yield [...bins, [first]];
    for (const index of bins.keys()) {
      yield bins.map((content, at) => (at === index ? [...content, first] : content));
    }
  }
}

/** The best of all plans, found by looking at each. */
export function bestOfAll(tiny: TinyCase): Worth {
  const { groups, nodesMax } = tiny;
  const pods = groups.flatMap(({ count }, id) => Array.from({ length: count }, () => id));
  const priorities = prioritiesOf(tiny);
  let best: Worth = { placed: priorities.map(() => 0), price: 0 };
  for (const bins of groupings(pods, nodesMax)) {
    const all = bins.flat();
    const placed = priorities.map(
      (priority) => all.filter((id) => groups[id]?.priority === priority).length,
    );
    for (const zones of zonings(bins.length)) {
      const price = bins.reduce(
        (sum, content, bin) => sum + cheapest(tiny, content, zones[bin] ?? ''),
        0,
      );
      const worth = { placed, price };
      if (price < Number.POSITIVE_INFINITY && isBetter(worth, best)) {
        if (keepsBonds(tiny, bins, zones)) best = worth;
      }
    }
  }
  return best;
}
