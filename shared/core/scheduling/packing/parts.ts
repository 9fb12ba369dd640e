import { missing } from '../../missing.ts';
import type { LaunchGroup } from '../problem/launch-options.ts';

/** Where pods may go, by launch group: 1 where they may. */
interface Placeable {
  readonly allowed: Uint8Array;
}

/** Pods that share no launch group with those of other parts, and the groups that they may use. */
export interface Part<Batch extends Placeable> {
  readonly batches: readonly Batch[];
  readonly groups: readonly LaunchGroup[];
}

/**
 * A problem in the parts that do not touch each other, such as those of tainted NodePools, in the
 * order of their first batches. Each is packed on its own: a programme of all together takes the
 * square of the time and is worth the same. Batches that no group takes are in none.
 */
export function independentParts<Batch extends Placeable>(
  batches: readonly Batch[],
  groups: readonly LaunchGroup[],
): readonly Part<Batch>[] {
  const takes = (group: LaunchGroup, at: number): boolean => batches[at]?.allowed[group.id] === 1;
  const parents = batches.map((_, at) => at);
  const rootOf = (at: number): number => {
    let root = at;
    for (let next = parents[root] ?? missing(root); next !== root; ) {
      root = next;
      next = parents[root] ?? missing(root);
    }
    parents[at] = root;
    return root;
  };
  const firsts = groups.map((group) => {
    const first = batches.findIndex((_, at) => takes(group, at));
    for (let at = first + 1; first >= 0 && at < batches.length; at++) {
      if (!takes(group, at)) continue;
      const [a, b] = [rootOf(first), rootOf(at)];
      parents[Math.max(a, b)] = Math.min(a, b);
    }
    return first;
  });
  const byRoot = Map.groupBy(groups.keys(), (at) => {
    const first = firsts[at] ?? missing(at);
    return first < 0 ? -1 : rootOf(first);
  });
  return [...byRoot]
    .filter(([root]) => root >= 0)
    .sort(([a], [b]) => a - b)
    .map(([root, own]) => ({
      batches: batches.filter((_, at) => rootOf(at) === root),
      groups: own.map((at) => groups[at] ?? missing(at)),
    }));
}
