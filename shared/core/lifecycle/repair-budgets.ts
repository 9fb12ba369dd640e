import { allowedDisruptions, isCounted } from '../disruption/budgets.ts';
import type { Node } from '../model/cluster.ts';
import { nodeOfClaim } from '../model/joins.ts';
import { NODE_POOL } from '../model/labels.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import { isDisrupted } from '../model/taint.ts';
import type { RepairCause } from './repair.ts';

/** Unhealthy nodes that may go now, and those that a budget holds. */
export interface BudgetedRepair {
  readonly unhealthy: ReadonlyMap<string, RepairCause>;
  readonly held: readonly NodeClaim[];
}

interface Repairable {
  readonly nodePools: readonly NodePool[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
}

/**
 * Holds back what budgets that name the reason Unhealthy do not allow; in the order of the claims'
 * names. Nodes that are not ready use up none of it: they are what is repaired.
 */
export function withinBudgets(
  unhealthy: ReadonlyMap<string, RepairCause>,
  { nodePools, nodeClaims, nodes }: Repairable,
  nowMs: number,
): BudgetedRepair {
  const isLeaving = (claim: NodeClaim): boolean => {
    const node = nodeOfClaim(nodes, claim);
    return claim.deletedAtMs !== undefined || (node !== undefined && isDisrupted(node));
  };
  const left = new Map(
    nodePools.map((pool) => {
      const counted = nodeClaims.filter((claim) => isCounted(claim, pool));
      const count = { total: counted.length, disrupted: counted.filter(isLeaving).length };
      return [pool.name, allowedDisruptions(pool, 'Unhealthy', count, nowMs)] as const;
    }),
  );
  const kept = new Map(unhealthy);
  const held: NodeClaim[] = [];
  for (const claim of nodeClaims.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const pool = claim.labels[NODE_POOL] ?? '';
    const most = left.get(pool);
    // A node that never was initialised is in no budget.
    if (!unhealthy.has(claim.uid) || most === undefined || !isCounted(claim, { name: pool }))
      continue;
    if (most > 0) left.set(pool, most - 1);
    else {
      kept.delete(claim.uid);
      held.push(claim);
    }
  }
  return { unhealthy: kept, held };
}
