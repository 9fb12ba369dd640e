import { isTrue } from '../core/lifecycle/conditions.ts';
import { DO_NOT_DISRUPT, NODE_POOL } from '../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../core/model/provisioning.ts';
import type { ClusterState, Ports } from '../ports.ts';
import { staticClaim } from './new-claims.ts';
import { claimRef } from './references.ts';
import type { Shadow } from './shadow.ts';

interface Ranked {
  readonly claim: NodeClaim;
  /** Lower goes first: not launched, empty, then by pods; protected nodes last. */
  readonly rank: number;
}

/** Which claims of a static pool go first when there are too many, as in Karpenter. */
function byExpendability(state: ClusterState, claims: readonly NodeClaim[]): readonly NodeClaim[] {
  const { nodes, pods } = state.objects;
  const ranked = claims.map((claim): Ranked => {
    if (claim.providerId === undefined) return { claim, rank: -1 };
    const node = nodes.find((each) => each.providerId === claim.providerId);
    const running = pods.filter(
      (pod) =>
        node !== undefined &&
        pod.nodeName === node.name &&
        pod.controller?.kind !== 'DaemonSet' &&
        pod.phase !== 'Succeeded' &&
        pod.phase !== 'Failed',
    );
    const isProtected = node?.annotations[DO_NOT_DISRUPT] === 'true';
    return { claim, rank: running.length + (isProtected ? 1_000_000 : 0) };
  });
  return ranked
    .sort((a, b) => a.rank - b.rank || (a.claim.name < b.claim.name ? -1 : 1))
    .map((each) => each.claim);
}

/** Creates and deletes claims of NodePools with `replicas`; how many it changed. */
export async function keepStaticCapacity(
  ports: Ports,
  state: ClusterState,
  pools: readonly NodePool[],
  shadow: Shadow,
): Promise<number> {
  let changed = 0;
  for (const pool of pools) {
    if (pool.replicas === undefined || pool.isDeleting || !isTrue(pool, 'Ready')) continue;
    const all = state.objects.nodeClaims.filter((each) => each.labels[NODE_POOL] === pool.name);
    const claims = all.filter((claim) => claim.deletedAtMs === undefined);
    const room = (pool.limits['nodes'] ?? Number.POSITIVE_INFINITY) - all.length;
    const missing = Math.min(pool.replicas - claims.length, room);
    for (let count = 0; count < missing; count += 1) {
      if (await shadow.isCast()) return changed;
      const claim = staticClaim(pool, `${pool.name}-${ports.ids.suffix()}`);
      await ports.cluster.createNodeClaim(claim);
      ports.recorder.count('nodeclaims_created_total', { reason: 'static', nodepool: pool.name });
      changed += 1;
    }
    const surplus = claims.length - pool.replicas;
    for (const claim of byExpendability(state, claims).slice(0, Math.max(0, surplus))) {
      if (await shadow.isCast()) return changed;
      await ports.cluster.delete(claimRef(claim));
      changed += 1;
    }
  }
  return changed;
}
