import { missing } from '../../shared/core/missing.ts';
import type { LaunchOption } from '../../shared/core/scheduling/problem/launch-options.ts';
import { ruleAllowsNode } from '../../shared/core/scheduling/problem/node-rules.ts';
import type {
  ExistingNode,
  ResolvedClass,
  SearchContext,
} from '../../shared/core/scheduling/search/search-state.ts';

/**
 * One place that pods can go to: a launch that can be bought any number of times, or nodes that are
 * there and that are looked at as one of their number's share.
 */
export interface SchedulerNode {
  readonly name: string;
  readonly price: number;
  /** What there is to take of each, on average. */
  readonly free: Float64Array;
  /** Of each resource, what the one with most has. */
  readonly roomiest: Float64Array;
  /** At most this many; undefined = any number. */
  readonly most: number | undefined;
  /** How many whole pods of the class fit, on average. */
  readonly fits: (resolved: ResolvedClass) => number;
}

/** All places: launches that no other beats, and the nodes that are there, in at most so many. */
export function schedulerNodes(
  context: SearchContext,
  groupsMost: number,
): readonly SchedulerNode[] {
  const launches = context.problem.groups.flatMap(({ paretoFront }) => paretoFront);
  return [
    ...unbeaten(launches).map((option, index) => ({
      name: `n${index}`,
      price: option.price,
      free: option.free,
      roomiest: option.free,
      most: option.offering.reservation?.capacity,
      fits: ({ podClass, allowed }: ResolvedClass) =>
        allowed[option.group.id] === 1 ? fitsOf(podClass.requests, option.free) : 0,
    })),
    ...nodeGroups(context, groupsMost).map((nodes, index) => ({
      name: `e${index}`,
      price: 0,
      free: average(nodes),
      roomiest: roomiestOf(nodes),
      most: nodes.length,
      fits: (resolved: ResolvedClass) => {
        const fitting = nodes.filter((existing) => suitsNode(resolved, existing));
        const { requests } = resolved.podClass;
        return fitting.reduce((sum, { free }) => sum + fitsOf(requests, free), 0) / nodes.length;
      },
    })),
  ];
}

function average(nodes: readonly ExistingNode[]): Float64Array {
  return Float64Array.from(nodes[0]?.free ?? [], (_, r) => {
    const all = nodes.reduce((sum, { free }) => sum + Math.max(0, free[r] ?? missing(r)), 0);
    return all / nodes.length;
  });
}

function roomiestOf(nodes: readonly ExistingNode[]): Float64Array {
  return Float64Array.from(nodes[0]?.free ?? [], (_, r) =>
    nodes.reduce((most, { free }) => Math.max(most, free[r] ?? missing(r)), 0),
  );
}

/** The nodes that are there, those together that pods see alike. */
export function nodesByRules({
  existingNodes,
  problem,
}: SearchContext): readonly (readonly ExistingNode[])[] {
  const rules = [...new Set(problem.classes.map(({ rule }) => rule))];
  const byRules = Map.groupBy(existingNodes, ({ node }) =>
    rules.map((rule) => Number(ruleAllowsNode(rule, node.label, node.taints))).join(''),
  );
  return [...byRules.values()];
}

/** Nodes that are there, and the resource of which they have the least alike. */
interface NodeGroup {
  readonly nodes: readonly ExistingNode[];
  readonly resource: number;
  /** By how much of the most one has they differ, for all of them. */
  readonly spread: number;
}

/**
 * The nodes that are there in groups of about equal room, each of which pods see alike: those that
 * differ most are parted until there are so many groups. Fewer than there are kinds of nodes make
 * the bound lower, never higher.
 */
function nodeGroups(context: SearchContext, most: number): readonly (readonly ExistingNode[])[] {
  const groups = nodesByRules(context).map(groupOf);
  while (groups.length < most) {
    const widest = groups.reduce((a, b) => (b.spread > a.spread ? b : a), groupOf([]));
    if (widest.spread === 0) break;
    const { nodes, resource } = widest;
    const roomOf = ({ free }: ExistingNode) => free[resource] ?? missing(resource);
    const sorted = nodes.toSorted((a, b) => roomOf(a) - roomOf(b));
    const middle = roomOf(sorted[sorted.length >> 1] ?? missing(0));
    const least = roomOf(sorted[0] ?? missing(0));
    const isLow = (each: ExistingNode) => roomOf(each) < middle || roomOf(each) === least;
    const parts = [nodes.filter(isLow), nodes.filter((each) => !isLow(each))];
    groups.splice(groups.indexOf(widest), 1, ...parts.map(groupOf));
  }
  return groups.map(({ nodes }) => nodes);
}

function groupOf(nodes: readonly ExistingNode[]): NodeGroup {
  const spreads = [...(nodes[0]?.free.keys() ?? [])].map((r) => {
    const rooms = nodes.map(({ free }) => Math.max(0, free[r] ?? missing(r)));
    const least = rooms.reduce((a, b) => Math.min(a, b));
    const most = rooms.reduce((a, b) => Math.max(a, b));
    return least === most ? 0 : (nodes.length * (most - least)) / most;
  });
  const spread = Math.max(0, ...spreads);
  return { nodes, resource: spreads.indexOf(spread), spread };
}

export function rulesAllow({ podClass }: ResolvedClass, { node }: ExistingNode): boolean {
  return ruleAllowsNode(podClass.rule, node.label, node.taints);
}

export function suitsNode(resolved: ResolvedClass, existing: ExistingNode): boolean {
  return rulesAllow(resolved, existing) && fitsOf(resolved.podClass.requests, existing.free) > 0;
}

/** Launches of which no other costs no more, has at least the room and takes at least the pods. */
function unbeaten(options: readonly LaunchOption[]): readonly LaunchOption[] {
  const kept: LaunchOption[] = [];
  for (const each of options.toSorted((a, b) => a.price - b.price)) {
    if (!kept.some((other) => beats(other, each))) kept.push(each);
  }
  return kept;
}

function beats(other: LaunchOption, each: LaunchOption): boolean {
  if (other.offering.reservation !== undefined) return false;
  return (
    other.free.every((amount, r) => amount >= (each.free[r] ?? missing(r))) &&
    each.group.allowed.every(
      (isAllowed, rule) => isAllowed <= (other.group.allowed[rule] ?? missing(rule)),
    )
  );
}

/** How many whole pods fit. */
export function fitsOf(requests: Float64Array, free: Float64Array): number {
  let fits = Number.POSITIVE_INFINITY;
  for (const [r, amount] of requests.entries()) {
    if (amount > 0) fits = Math.min(fits, Math.floor(Math.max(0, free[r] ?? missing(r)) / amount));
  }
  return fits;
}
