import { DisjointSets, SetsByKey } from '../../disjoint-sets.ts';
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
  const sets = new DisjointSets(batches.length);
  const pools = new SetsByKey(sets);
  const used = new Set<LaunchGroup>();
  for (const group of groups) {
    const { name } = group.pool.pool;
    for (const at of batches.keys()) {
      if (!takes(group, at)) continue;
      used.add(group);
      pools.add(at, name);
    }
  }
  const byRoot = Map.groupBy(used, ({ pool: { pool } }) => pools.rootOf(pool.name));
  return [...byRoot]
    .sort(([a], [b]) => a - b)
    .map(([root, own]) => ({
      batches: batches.filter((_, at) => sets.rootOf(at) === root),
      groups: own,
    }));
}
