import type { Candidate } from '../core/disruption/candidates.ts';
import { conditionOf } from '../core/lifecycle/conditions.ts';
import type { NodePool } from '../core/model/provisioning.ts';
import { type DisruptPass, say } from './disrupt-pass.ts';
import { recordNothing } from './launch-records.ts';
import { poolRef } from './references.ts';
import { isPaused } from './settings.ts';

/** Nodes of which one pass says that they have to wait: of a whole cluster it would take minutes. */
const SAID_MAX = 20;

/** Why a candidate waits, on itself or, where it holds for all of them, on the pool. */
export interface Waiting {
  readonly kind: 'waiting';
  readonly message: string;
  readonly isOfPool: boolean;
}

export function waiting(message: string, isOfPool = false): Waiting {
  return { kind: 'waiting', message, isOfPool };
}

/** A pool that can launch nothing keeps what it has; undefined: it is ready. */
export function waitsForPool(pool: NodePool): Waiting | undefined {
  const ready = conditionOf(pool, 'Ready');
  if (ready?.status === 'True') return undefined;
  return waiting(`The NodePool is not ready: ${ready?.message ?? 'it is new'}`, true);
}

/** Whether the brake holds disruptions: for those who have something to do, since it is recorded. */
export async function isBraked({ ports, state, nowMs }: DisruptPass): Promise<boolean> {
  if (!isPaused(state.pausedUntilMs.disrupt, nowMs)) return false;
  const message = 'disruptions are paused by the brake in kube-system/joiner';
  await recordNothing({ ports }, 'disruptions-paused', 'NodeClaims', message, 'disrupt');
  return true;
}

/** Says what waits, and why. */
export class WaitingEvents {
  readonly #pass: DisruptPass;
  readonly #ofPools = new Set<string>();
  #ofNodes = 0;

  constructor(pass: DisruptPass) {
    this.#pass = pass;
  }

  async say(
    { claim, node }: Candidate,
    pool: NodePool,
    { message, isOfPool }: Waiting,
  ): Promise<void> {
    const event = { type: 'Normal', reason: 'DisruptionBlocked', message } as const;
    if (!isOfPool) {
      this.#ofNodes += 1;
      if (this.#ofNodes <= SAID_MAX) await say(this.#pass, claim, node, event);
      return;
    }
    const key = `${pool.name} ${message}`;
    if (this.#ofPools.has(key)) return;
    this.#ofPools.add(key);
    await this.#pass.ports.cluster.event({ regarding: poolRef(pool), ...event });
  }
}
