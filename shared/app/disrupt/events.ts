import type { Candidate } from '../../core/disruption/candidates.ts';
import type { Reason } from '../../core/explain/reason.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import type { Ports } from '../../ports.ts';
import { recordEvent } from '../writes/claim-events.ts';
import { sayingAll } from '../writes/decisions.ts';
import { poolRef } from '../writes/references.ts';

/** Why a candidate waits, on itself or, where it holds for all of them, on the pool. */
export interface Blocked {
  readonly kind: 'waiting';
  /** All of them, what is known of the node itself first. */
  readonly reasons: readonly Reason[];
  readonly isOfPool: boolean;
}

export function blocked(reasons: readonly Reason[], isOfPool = false): Blocked {
  return { kind: 'waiting', reasons, isOfPool };
}

/** Says in one pass what waits and why, each thing once, and of so many nodes at most. */
export class BlockedEvents {
  /** By the claim's name, all that was found to keep its node, whether an Event says it or not. */
  readonly reasons = new Map<string, readonly Reason[]>();
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

  async ofPool(pool: NodePool, reasons: readonly Reason[]): Promise<void> {
    const said = sayingAll(reasons);
    if (!this.isNew(`${pool.name} ${said.message}`)) return;
    const event = { type: 'Normal', reason: 'DisruptionBlocked', ...said } as const;
    await this.#ports.cluster.event({ regarding: poolRef(pool), ...event });
  }

  async record(
    { claim, node }: Candidate,
    pool: NodePool,
    { reasons, isOfPool }: Blocked,
  ): Promise<void> {
    if (!this.reasons.has(claim.name)) this.reasons.set(claim.name, reasons);
    if (isOfPool) {
      await this.ofPool(pool, reasons);
      return;
    }
    const said = sayingAll(reasons);
    if (!this.isNew(`${claim.uid} ${said.message}`)) return;
    this.#ofNodes += 1;
    if (this.#ofNodes > this.#nodesMax) return;
    const event = { type: 'Normal', reason: 'DisruptionBlocked', ...said } as const;
    await recordEvent({ ports: this.#ports }, claim, node, event);
  }
}
