import { missing } from '../../shared/core/missing.ts';
import type { LaunchOption } from '../../shared/core/scheduling/problem/launch-options.ts';
import { ruleAllowsNode } from '../../shared/core/scheduling/problem/node-rules.ts';
import type {
  ExistingNode,
  ResolvedClass,
  SearchContext,
} from '../../shared/core/scheduling/search/search-state.ts';

/** One place that pods can go to: a launch that can be bought any number of times, or a node. */
export interface SchedulerNode {
  readonly name: string;
  readonly price: number;
  readonly free: Float64Array;
  /** At most this many; undefined = any number. */
  readonly most: number | undefined;
  readonly takes: (resolved: ResolvedClass) => boolean;
}

/** All places: launches that no other beats, and the nodes that are there. */
export function schedulerNodes(context: SearchContext): readonly SchedulerNode[] {
  const launches = context.problem.groups.flatMap(({ paretoFront }) => paretoFront);
  return [
    ...unbeaten(launches).map((option, index) => ({
      name: `n${index}`,
      price: option.price,
      free: option.free,
      most: option.offering.reservation?.capacity,
      takes: (resolved: ResolvedClass) => resolved.allowed[option.group.id] === 1,
    })),
    ...context.existingNodes.map((existing, index) => ({
      name: `e${index}`,
      price: 0,
      free: existing.free,
      most: 1,
      takes: (resolved: ResolvedClass) => suitsNode(resolved, existing),
    })),
  ];
}

export function suitsNode({ podClass }: ResolvedClass, { node, free }: ExistingNode): boolean {
  return (
    ruleAllowsNode(podClass.rule, node.label, node.taints) && fitsOf(podClass.requests, free) > 0
  );
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
