import type { Node } from '../model/cluster.ts';
import { nodesOfClaim } from '../model/joins.ts';
import { REGISTERED } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { conditionOf } from './conditions.ts';

/** No read of nodes is so old that it lacks a Node which had registered by then. */
const READ_MS = 60_000;

/**
 * Whether somebody has removed the claim's Node by force, without its finalizer. A kubelet brings
 * its Node back only when it restarts, and then closed to pods: until then the instance is paid for
 * and takes none, while plans count on it as on one that is still to join. A Node that is back is
 * never opened, since its claim has registered already.
 */
export function isNodeRemoved(claim: NodeClaim, nodes: readonly Node[], nowMs: number): boolean {
  const registered = conditionOf(claim, 'Registered');
  if (registered?.status !== 'True' || claim.nodeName === undefined) return false;
  const sinceMs = registered.lastTransitionAtMs;
  if (nowMs - sinceMs <= READ_MS) return false;
  const own = nodesOfClaim(nodes, claim);
  if (own.length > 0) return own.every((node) => isBack(node, sinceMs));
  // A Node of the name that says that it is of another instance was not removed.
  return !nodes.some(({ name }) => name === claim.nodeName);
}

/** Another than the Node that registered: younger, and without the label that one got. */
function isBack({ labels, createdAtMs }: Node, registeredMs: number): boolean {
  return createdAtMs > registeredMs && labels[REGISTERED] !== 'true';
}
