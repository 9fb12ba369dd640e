import { isReason, type Reason, reason } from '../../explain/reason.ts';
import { claimOfNode, podsOnNode } from '../../model/joins.ts';
import { NODE_POOL } from '../../model/labels.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { returnOf } from '../return.ts';
import type { Places } from '../simulation.ts';

/**
 * Of the nodes that take the pods those that would then return to their first choice, and evict
 * these pods again: what goes may be just what keeps them from it. `after` has the pods there.
 */
export function returningHosts(
  after: ClusterSnapshot,
  elsewhere: Places,
  fallbacks: ReadonlySet<string>,
  settings: SchedulingSettings,
): readonly string[] {
  const hosts = [...new Set(elsewhere.values())].filter((name) => fallbacks.has(name));
  return hosts.filter((name) => {
    const node = after.nodes.find((each) => each.name === name);
    const claim = node && claimOfNode(after.nodeClaims, node);
    const pool = after.nodePools.find((each) => each.name === claim?.labels[NODE_POOL]);
    if (node === undefined || claim === undefined || pool === undefined) return false;
    const candidate = { claim, node, pool, pods: podsOnNode(after.pods, name) };
    return !isReason(returnOf(after, candidate, settings));
  });
}

/** Why a move to the node of the name is none. */
export function wouldReturn({ nodes }: ClusterSnapshot, name: string): Reason {
  const host = nodes.find((each) => each.name === name);
  return reason('host-would-return', { nodePool: host?.labels[NODE_POOL] ?? '', node: name });
}
