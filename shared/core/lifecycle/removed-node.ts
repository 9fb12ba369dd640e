import type { Node } from '../model/cluster.ts';
import { nodesOfClaim } from '../model/joins.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { conditionOf } from './conditions.ts';

/** No read of nodes is so old that it lacks a Node which had registered by then. */
const READ_MS = 60_000;

/**
 * Whether somebody has removed the claim's Node by force, without its finalizer. A kubelet brings
 * its Node back only when it restarts, and then closed to pods: until then the instance is paid for
 * and takes none, while plans count on it as on one that is still to join.
 */
export function isNodeRemoved(claim: NodeClaim, nodes: readonly Node[], nowMs: number): boolean {
  const registered = conditionOf(claim, 'Registered');
  if (registered?.status !== 'True' || claim.nodeName === undefined) return false;
  if (nowMs - registered.lastTransitionAtMs <= READ_MS) return false;
  // A Node of the name that says that it is of another instance was not removed.
  return (
    nodesOfClaim(nodes, claim).length === 0 && !nodes.some(({ name }) => name === claim.nodeName)
  );
}
