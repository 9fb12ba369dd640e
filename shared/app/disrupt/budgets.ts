import {
  allowedDisruptions,
  isCounted,
  type PoolNodes,
  usesBudgets,
} from '../../core/disruption/budgets.ts';
import { reason } from '../../core/explain/reason.ts';
import { nodeOfClaim } from '../../core/model/joins.ts';
import type { DisruptionReason, NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import { type DisruptPass, poolOf } from './pass.ts';

/**
 * Initialised nodes of the pool, and how many of them are on their way out or not ready, beside the
 * one of this claim.
 */
function nodesOf(
  { state, commands, changes: { taken, chosen } }: DisruptPass,
  pool: NodePool,
  beside?: NodeClaim,
): PoolNodes {
  const { nodeClaims, nodes } = state.objects;
  const busy = new Set([...commands.map(({ claim }) => claim.uid), ...taken, ...chosen]);
  const counted = nodeClaims.filter((claim) => isCounted(claim, pool));
  const disrupted = counted.filter((claim) => {
    if (claim.uid === beside?.uid) return false;
    return busy.has(claim.uid) || usesBudgets(claim, nodeOfClaim(nodes, claim));
  });
  return { total: counted.length, disrupted: disrupted.length };
}

/** Whether budgets of its pool let the claim's node go as well, whoever has chosen it. */
export function isWithinBudgets(
  pass: DisruptPass,
  claim: NodeClaim,
  reason: DisruptionReason,
): boolean {
  const pool = poolOf(pass, claim);
  if (pool === undefined) return true;
  return allowedDisruptions(pool, reason, nodesOf(pass, pool, claim), pass.nowMs) > 0;
}

/** How many nodes each pool may still lose in this pass for one reason. */
export class Allowance {
  readonly #pass: DisruptPass;
  readonly #reason: DisruptionReason;
  readonly #left: Map<string, number>;

  constructor(pass: DisruptPass, reason: DisruptionReason) {
    this.#pass = pass;
    this.#reason = reason;
    const { nodePools } = pass.state.objects;
    this.#left = new Map(
      nodePools.map((pool) => [
        pool.name,
        allowedDisruptions(pool, reason, nodesOf(pass, pool), pass.nowMs),
      ]),
    );
  }

  /** How many more nodes of the pool may go. */
  left({ name }: NodePool): number {
    return this.#left.get(name) ?? 0;
  }

  /** True: the pool's budgets let another node go. Where they do not, the pool says so once. */
  async allows(pool: NodePool): Promise<boolean> {
    if (this.left(pool) > 0) return true;
    await this.#pass.outcome.events.ofPool(pool, [
      reason('budget-blocks', { reason: this.#reason }),
    ]);
    return false;
  }

  /** A node of the pool goes. */
  take(pool: NodePool): void {
    this.#left.set(pool.name, this.left(pool) - 1);
  }
}
