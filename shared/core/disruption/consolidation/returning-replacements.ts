import { isReason, type Reason, reason } from '../../explain/reason.ts';
import { CAPACITY_TYPE } from '../../model/labels.ts';
import type { PlannedNodeClaim } from '../../model/plan.ts';
import { asWaiting } from '../../model/pod.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { replan } from '../../scheduling/replan.ts';
import { isReschedulable } from '../candidates.ts';
import { isPreferred, returnTermsOf } from '../first-choice.ts';
import { type Places, withPlaces } from '../simulation.ts';
import type { ConsolidationCandidate } from './payback.ts';

/** What `isPreferred` asks of a node. */
function labelsOf({ chosen }: PlannedNodeClaim) {
  return { labels: { [CAPACITY_TYPE]: chosen.capacityType } };
}

/** The replacement's NodePool, where its nodes return to what one of the nodes is. */
function demotedFrom(
  planned: PlannedNodeClaim,
  nodes: readonly ConsolidationCandidate[],
  nodePools: readonly NodePool[],
): NodePool | undefined {
  const pool = nodePools.find(({ name }) => name === planned.nodePool);
  if (pool === undefined || pool.replicas !== undefined) return undefined;
  const terms = returnTermsOf(pool);
  if (terms === undefined || isReason(terms)) return undefined;
  const isDemotion = nodes.some(({ claim, pool: { name: nodePool } }) => {
    const chosen = { capacityType: claim.labels[CAPACITY_TYPE] ?? '' };
    return isPreferred({ nodePool, chosen }, labelsOf(planned), pool, nodePools);
  });
  return isDemotion ? pool : undefined;
}

/** The cluster once the nodes are gone, with the pods that need new nodes waiting. */
function withoutNodes(
  snapshot: ClusterSnapshot,
  gone: readonly ConsolidationCandidate[],
  elsewhere: Places,
): ClusterSnapshot {
  const nodes = new Set(gone.map(({ node }) => node.name));
  const claims = new Set(gone.map(({ claim }) => claim.name));
  const after = withPlaces(snapshot, elsewhere);
  return {
    ...after,
    nodes: after.nodes.filter(({ name }) => !nodes.has(name)),
    nodeClaims: after.nodeClaims.filter(({ name }) => !claims.has(name)),
    pods: after.pods.flatMap((pod) => {
      if (!nodes.has(pod.nodeName ?? '')) return [pod];
      return isReschedulable(pod) ? [asWaiting(pod)] : [];
    }),
  };
}

/**
 * Why the move would be undone: what it frees in limits of a NodePool of a greater weight lets its
 * replacements return there (`joiner.dev/return-to-first-choice`), whatever that costs, and the next
 * move would begin again. Undefined: it would not.
 */
export function undoneByReturn(
  snapshot: ClusterSnapshot,
  nodes: readonly ConsolidationCandidate[],
  planned: readonly PlannedNodeClaim[],
  elsewhere: Places,
  settings: SchedulingSettings,
): Reason | undefined {
  const { nodePools } = snapshot;
  const demoted = planned.flatMap((each) => {
    const pool = demotedFrom(each, nodes, nodePools);
    return pool === undefined ? [] : [{ each, pool }];
  });
  // Most clusters have none, and the plan below takes as long as that of the move.
  if (demoted.length === 0) return undefined;
  const { newNodeClaims } = replan(withoutNodes(snapshot, nodes, elsewhere), settings);
  for (const { each, pool } of demoted) {
    const again = newNodeClaims.find(
      ({ pods, ...claim }) =>
        pods.some((pod) => each.pods.includes(pod)) &&
        isPreferred(claim, labelsOf(each), pool, nodePools),
    );
    if (again === undefined) continue;
    const wanted = `${again.chosen.capacityType} in NodePool ${again.nodePool}`;
    return reason('move-would-be-undone', { nodePool: pool.name, wanted });
  }
  return undefined;
}
