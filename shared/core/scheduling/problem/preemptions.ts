import type { Pod } from '../../model/pod.ts';
import {
  addResources,
  amountOf,
  NO_RESOURCES,
  type Resources,
  subtractResources,
} from '../../model/resources.ts';

/** What pods together request. */
function requested(pods: readonly Pod[]): Resources {
  return pods.reduce((sum, { spec }) => addResources(sum, spec.requests), NO_RESOURCES);
}

/**
 * By node: what pods that preempt others there will take beyond what those give back. Until it
 * is theirs kube-scheduler keeps it from pods that do not matter more, and those have no use for a
 * plan that gives it to them: the others may take an hour to end.
 */
export function roomOfPreemptors(
  preempting: readonly Pod[],
  onNodes: ReadonlyMap<string, readonly Pod[]>,
): ReadonlyMap<string, Resources> {
  const byNode = Map.groupBy(preempting, ({ nominatedNodeName = '' }) => nominatedNodeName);
  return new Map(
    [...byNode].map(([node, pods]) => {
      const highest = Math.max(...pods.map(({ spec }) => spec.priority));
      const victims = (onNodes.get(node) ?? []).filter(
        ({ deletedAtMs, spec }) => deletedAtMs !== undefined && spec.priority < highest,
      );
      const more = subtractResources(requested(pods), requested(victims));
      const taken = Object.keys(more).map((name) => [name, Math.max(0, amountOf(more, name))]);
      return [node, Object.fromEntries(taken)];
    }),
  );
}
