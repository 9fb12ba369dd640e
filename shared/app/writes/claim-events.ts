import type { Node } from '../../core/model/cluster.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterEvent, Ports } from '../../ports.ts';
import { claimRef, nodeRef } from './references.ts';

/** The same words on the claim and on its node, as `kubectl describe` of either shows them. */
export async function recordEvent(
  { ports }: { readonly ports: Ports },
  claim: NodeClaim,
  node: Node | undefined,
  event: Omit<ClusterEvent, 'regarding'>,
): Promise<void> {
  await ports.cluster.event({ regarding: claimRef(claim), ...event });
  if (node !== undefined) await ports.cluster.event({ regarding: nodeRef(node), ...event });
}
