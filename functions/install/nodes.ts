import { RESOURCES } from '../../shared/api/resources.ts';
import { isKarpenterActive } from '../../shared/app/settings.ts';
import { mayHaveRole } from '../../shared/core/launch/profile-roles.ts';
import { INSTANCE_PROFILE } from '../../shared/core/model/labels.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { readKarpenterLease } from '../../shared/kube/karpenter-lease.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';

/** NodeClaims of EKS Auto Mode have classes of another group. */
const CLASS_GROUP = 'karpenter.k8s.aws';

/**
 * How many NodeClaims of EC2NodeClasses there are, where roles are given only those whose nodes may
 * have one of these; of a definition that is gone there is none.
 */
export async function countNodes(client: KubeClient, roles?: readonly string[]): Promise<number> {
  let count = 0;
  const visit = {
    start: () => {
      count = 0;
    },
    object: (claim: unknown) => {
      const group = property(property(property(claim, 'spec'), 'nodeClassRef'), 'group');
      const annotations = property(property(claim, 'metadata'), 'annotations');
      const profile = text(property(annotations, INSTANCE_PROFILE));
      const isCounted = roles === undefined || mayHaveRole(profile, roles);
      if (group === CLASS_GROUP && isCounted) count += 1;
    },
  };
  try {
    await listEach(client, { resource: RESOURCES.nodeClaims }, visit);
  } catch (error) {
    if (!isKubeFault(error, 'notFound')) throw error;
  }
  return count;
}

/** Nodes that nobody looks after: none while Karpenter renews its Lease. */
export async function countUnattended(client: KubeClient): Promise<number> {
  const renewal = await readKarpenterLease(client);
  return isKarpenterActive(renewal?.renewedAtMs, client.timing.nowMs())
    ? 0
    : await countNodes(client);
}

/** The roles that the stack had before and would not know any more. */
export function rolesLost(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  const kept = new Set(rolesOf(now));
  return rolesOf(before).filter((role) => !kept.has(role));
}

function rolesOf(properties: Readonly<Record<string, string>>): readonly string[] {
  return (properties['NodeRoles'] ?? '').split(',').filter((role) => role !== '');
}

/** Of EC2NodeClasses only: NodePools of EKS Auto Mode may be in the same cluster. */
const END_NODES =
  "kubectl delete nodepools $(kubectl get nodepools -o jsonpath='{.items[?(" +
  '@.spec.template.spec.nodeClassRef.kind=="EC2NodeClass")].metadata.name}\')';

/** Why a stack with nodes stays, and what lets it go. */
export function destroyRefusal(nodes: number, cluster: string): string {
  return (
    `${nodes} nodes of Joiner are in the cluster ${cluster}, and nobody would drain or end them. ` +
    `End them with: ${END_NODES}; or leave them, with their role and access entry, and say so ` +
    `before: npx cdk deploy -c cluster=${cluster} -c leaveNodes=true`
  );
}

/** Why a role stays, and what lets it go. */
export function roleRefusal(nodes: number, cluster: string, roles: readonly string[]): string {
  return (
    `${nodes} nodes of Joiner are in the cluster ${cluster}, and classes that name ` +
    `${roles.join(' or ')} could launch no more. Keep the role beside the new one with: ` +
    `-c nodeRoles=${roles.join(',')} -c nodeRoleEntry=false; or end the nodes with: ` +
    `${END_NODES}; or deploy with -c leaveNodes=true`
  );
}

/** Why a stack with nodes does not become one that never acts, and what lets it. */
export function shadowRefusal(nodes: number, cluster: string): string {
  return (
    `${nodes} nodes are in the cluster ${cluster}, Karpenter does not run, and a stack with shadow ` +
    'would neither drain nor end them. Hand them back with joiner hand-back and start Karpenter; ' +
    `or end the nodes with: ${END_NODES}; or deploy with -c leaveNodes=true`
  );
}
