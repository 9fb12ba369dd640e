import type { PoolNodes } from '../core/disruption/budgets.ts';
import { type Candidate, isEmpty } from '../core/disruption/candidates.ts';
import { isTrue } from '../core/lifecycle/conditions.ts';
import { NODE_POOL } from '../core/model/labels.ts';
import type { NodePool } from '../core/model/provisioning.ts';
import { isDisrupted } from '../core/model/taint.ts';
import { driftedSinceMs } from './disrupt-drift.ts';
import type { DisruptPass, Judged } from './disrupt-pass.ts';

/** A node that is not what its NodePool and EC2NodeClass ask for, and that nobody replaces yet. */
export interface Drifted extends Candidate {
  readonly judged: Judged;
  readonly pool: NodePool;
}

/** Empty ones first, then those that have drifted for longest. */
export function candidatesOf(pass: DisruptPass): readonly Drifted[] {
  const { state, judged, commands, draining } = pass;
  const { nodes, pods } = state.objects;
  // What replaces another node stays empty until that one has gone.
  const busy = new Set(
    [...commands, ...draining].flatMap(({ claim, replacements }) =>
      [claim, ...replacements].map(({ uid }) => uid),
    ),
  );
  const byProvider = new Map(nodes.map((node) => [node.providerId, node]));
  const byNode = Map.groupBy(pods, ({ nodeName }) => nodeName);
  const found = [...judged.values()].flatMap((each): readonly Drifted[] => {
    const { claim, target, drifts } = each;
    const node = byProvider.get(claim.providerId);
    if (drifts.length === 0 || busy.has(claim.uid) || claim.providerId === undefined) return [];
    if (node === undefined || node.deletedAtMs !== undefined) return [];
    // A taint that was forgotten goes in this pass: what is known of the node is not so any more.
    if (isDisrupted(node)) return [];
    return [{ claim, node, pods: byNode.get(node.name) ?? [], judged: each, pool: target.pool }];
  });
  return found.sort(
    (a, b) =>
      Number(isEmpty(b)) - Number(isEmpty(a)) ||
      driftedSinceMs(pass, a.claim) - driftedSinceMs(pass, b.claim) ||
      (a.claim.name < b.claim.name ? -1 : 1),
  );
}

/** Initialised nodes of the pool, and how many of them are on their way out or not ready. */
export function nodesOf({ state, commands }: DisruptPass, pool: NodePool): PoolNodes {
  const { nodeClaims, nodes } = state.objects;
  const byProvider = new Map(nodes.map((node) => [node.providerId, node]));
  const busy = new Set(commands.map(({ claim }) => claim.uid));
  const counted = nodeClaims.filter(
    (claim) =>
      claim.labels[NODE_POOL] === pool.name &&
      isTrue(claim, 'Initialized') &&
      !isTrue(claim, 'InstanceTerminating'),
  );
  const disrupted = counted.filter((claim) => {
    const node = byProvider.get(claim.providerId);
    if (claim.deletedAtMs !== undefined || busy.has(claim.uid) || node === undefined) return true;
    return isDisrupted(node) || !isTrue(node, 'Ready');
  });
  return { total: counted.length, disrupted: disrupted.length };
}
