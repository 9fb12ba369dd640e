import { missing } from '../../missing.ts';
import type { LaunchGroup } from '../problem/launch-options.ts';

/** Where pods may go, by launch group: 1 where they may. */
interface Placeable {
  readonly allowed: Uint8Array;
}

/** Pods that share no NodePool with those of other parts, and the launch groups they may use. */
export interface Part<Batch extends Placeable> {
  readonly batches: readonly Batch[];
  readonly groups: readonly LaunchGroup[];
}

/**
 * A problem in the parts that no NodePool has in common, such as those of teams with tainted
 * NodePools, in the order of their first batches. Each is packed on its own: a programme of all
 * together takes the square of the time and is worth the same. Batches that no group takes are in
 * none.
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
  const unite = (one: number, other: number): void => {
    const [a, b] = [rootOf(one), rootOf(other)];
    parents[Math.max(a, b)] = Math.min(a, b);
  };
  const firstOfPool = new Map<string, number>();
  const used = new Set<LaunchGroup>();
  for (const group of groups) {
    const { name } = group.pool.pool;
    for (const at of batches.keys()) {
      if (!takes(group, at)) continue;
      used.add(group);
      const first = firstOfPool.get(name) ?? at;
      firstOfPool.set(name, first);
      unite(first, at);
    }
  }
  const byRoot = Map.groupBy(used, ({ pool: { pool } }) =>
    rootOf(firstOfPool.get(pool.name) ?? missing(pool.name)),
  );
  return [...byRoot]
    .sort(([a], [b]) => a - b)
    .map(([root, own]) => ({
      batches: batches.filter((_, at) => rootOf(at) === root),
      groups: own,
    }));
}
