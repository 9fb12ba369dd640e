import { allowedDisruptions, type PoolNodes } from '../core/disruption/budgets.ts';
import { isTrue } from '../core/lifecycle/conditions.ts';
import { NODE_POOL } from '../core/model/labels.ts';
import type { DisruptionReason, NodePool } from '../core/model/provisioning.ts';
import { isDisrupted } from '../core/model/taint.ts';
import type { DisruptPass } from './disrupt-pass.ts';
import { poolRef } from './references.ts';

/** Initialised nodes of the pool, and how many of them are on their way out or not ready. */
function nodesOf({ state, commands, removed }: DisruptPass, pool: NodePool): PoolNodes {
  const { nodeClaims, nodes } = state.objects;
  const byProvider = new Map(nodes.map((node) => [node.providerId, node]));
  const busy = new Set([...commands.map(({ claim }) => claim.uid), ...removed]);
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

/** How many nodes each pool may still lose in this pass for one reason. */
export class Allowance {
  readonly #pass: DisruptPass;
  readonly #reason: DisruptionReason;
  readonly #left: Map<string, number>;
  readonly #said = new Set<string>();

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

  /** True: the pool's budgets let another node go. Where they do not, the pool says so once. */
  async allows(pool: NodePool): Promise<boolean> {
    if ((this.#left.get(pool.name) ?? 0) > 0) return true;
    if (this.#said.has(pool.name)) return false;
    this.#said.add(pool.name);
    await this.#pass.ports.cluster.event({
      regarding: poolRef(pool),
      type: 'Normal',
      reason: 'DisruptionBlocked',
      message: `No allowed disruptions for disruption reason ${this.#reason} due to blocking budget`,
    });
    return false;
  }

  /** A node of the pool goes. */
  take(pool: NodePool): void {
    this.#left.set(pool.name, (this.#left.get(pool.name) ?? 0) - 1);
  }
}
