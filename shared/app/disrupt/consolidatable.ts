import {
  isConsolidatable,
  podEvent,
  withConsolidatable,
} from '../../core/disruption/pod-events.ts';
import { sameConditions } from '../../core/lifecycle/conditions.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import { NODE_POOL, PODS_HASH } from '../../core/model/labels.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import type { ConditionChange } from '../../ports.ts';
import { claimRef } from '../writes/references.ts';
import { markClaims } from './mark-claims.ts';
import type { DisruptPass, DriftResult } from './pass.ts';

/** Pod events that come faster are one. */
const PATIENCE_MS = 10_000;

/** As claims have it. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

async function mark(
  { ports, nowMs }: DisruptPass,
  claim: NodeClaim,
  pool: NodePool,
  pods: readonly Pod[],
): Promise<void> {
  const { replicas, disruption } = pool;
  const { hash, atMs } = podEvent({ claim, pods }, nowMs);
  const isIt =
    replicas === undefined && isConsolidatable({ claim, pods }, disruption.consolidateAfter, nowMs);
  const knownMs = claim.lastPodEventAtMs ?? Number.NEGATIVE_INFINITY;
  const isSoon = nowMs - knownMs < PATIENCE_MS;
  const isLater = !isSoon && atMs !== undefined && wholeSeconds(atMs) > wholeSeconds(knownMs);
  const hasOthers = !isSoon && hash !== claim.annotations[PODS_HASH];
  const conditions: ConditionChange = (now) => withConsolidatable(now, isIt, nowMs);
  const isChanged = isLater || !sameConditions(claim.conditions, conditions(claim.conditions));
  if (!isChanged && !hasOthers) return;
  if (isChanged) {
    const patch = { conditions, ...(isLater ? { lastPodEventAtMs: atMs } : {}) };
    if ((await ports.cluster.patchNodeClaimStatus(claimRef(claim), patch)) !== 'done') return;
  }
  // Last: where a run is cut short before it, the next one finds the event again.
  if (!hasOthers) return;
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations: { [PODS_HASH]: hash } });
}

/**
 * Says of every initialised claim when a pod last came to its node or left it, and whether that is
 * `consolidateAfter` ago. Nodes of static pools never are Consolidatable.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export async function markConsolidatable(pass: DisruptPass): Promise<void> {
  const { state, driftResults } = pass;
  const { nodes, nodePools, pods } = state.objects;
  const pools = new Map(nodePools.map((pool) => [pool.name, pool]));
  await markClaims(pass, [...driftResults.values()].sort(compareEvents), async ({ claim }) => {
    const pool = pools.get(claim.labels[NODE_POOL] ?? '');
    const node = nodeOfClaim(nodes, claim);
    if (pool === undefined || node === undefined) return;
    await mark(pass, claim, pool, podsOnNode(pods, node.name));
  });
}

/** Where pods come and go faster than it is written, every claim has its turn. */
function compareEvents({ claim: a }: DriftResult, { claim: b }: DriftResult): number {
  const waits = (a.lastPodEventAtMs ?? 0) - (b.lastPodEventAtMs ?? 0);
  return waits || (a.name < b.name ? -1 : 1);
}
