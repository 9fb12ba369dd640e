import type { Candidate } from '../../core/disruption/candidates.ts';
import type { Node } from '../../core/model/cluster.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import type { ClusterEvent, Ports } from '../../ports.ts';
import { claimRef, nodeRef, poolRef } from '../writes/references.ts';

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

/** Why a candidate waits, on itself or, where it holds for all of them, on the pool. */
export interface Blocked {
  readonly kind: 'waiting';
  readonly message: string;
  readonly isOfPool: boolean;
}

export function blocked(message: string, isOfPool = false): Blocked {
  return { kind: 'waiting', message, isOfPool };
}

/** Says in one pass what waits and why, each thing once, and of so many nodes at most. */
export class BlockedEvents {
  readonly #ports: Ports;
  readonly #nodesMax: number;
  readonly #said = new Set<string>();
  #ofNodes = 0;

  constructor(ports: Ports, nodesMax: number) {
    this.#ports = ports;
    this.#nodesMax = nodesMax;
  }

  /** Whether this has not been said yet; from now on it has. */
  isNew(what: string): boolean {
    const isNew = !this.#said.has(what);
    this.#said.add(what);
    return isNew;
  }

  async ofPool(pool: NodePool, message: string): Promise<void> {
    if (!this.isNew(`${pool.name} ${message}`)) return;
    const regarding = poolRef(pool);
    const reason = 'DisruptionBlocked';
    await this.#ports.cluster.event({ regarding, type: 'Normal', reason, message });
  }

  async record(
    { claim, node }: Candidate,
    pool: NodePool,
    { message, isOfPool }: Blocked,
  ): Promise<void> {
    if (isOfPool) {
      await this.ofPool(pool, message);
      return;
    }
    if (!this.isNew(`${claim.uid} ${message}`)) return;
    this.#ofNodes += 1;
    if (this.#ofNodes > this.#nodesMax) return;
    const event = { type: 'Normal', reason: 'DisruptionBlocked', message } as const;
    await recordEvent({ ports: this.#ports }, claim, node, event);
  }
}
