import { fingerprint, hasSameTypes } from '../../core/disruption/consolidation/fingerprint.ts';
import type { Reason } from '../../core/explain/reason.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';

const WAIT_MS = 5 * 60_000;
const WAIT_MS_MAX = 60 * 60_000;

/**
 * What is known of returns to the first choice in this process: in a cluster where nothing changes
 * nothing is planned again, and one that failed is not tried again at once. A new process tries
 * once more.
 */
export class ReturnMemory {
  private text = '';
  private types: ClusterSnapshot['instanceTypes'] = new Map();
  private refusals = new Map<string, Reason>();
  private readonly failures = new Map<
    string,
    { readonly count: number; readonly untilMs: number }
  >();

  /** Why nodes stay, by the claim's name, as far as that was found in this same cluster. */
  recall(snapshot: ClusterSnapshot): Map<string, Reason> {
    const text = fingerprint(snapshot);
    if (text !== this.text || !hasSameTypes(snapshot.instanceTypes, this.types)) {
      this.text = text;
      this.types = snapshot.instanceTypes;
      this.refusals = new Map();
    }
    return this.refusals;
  }

  /** A return of one of its nodes failed: the next waits, twice as long each time. */
  fail(nodePool: string, nowMs: number): void {
    const count = (this.failures.get(nodePool)?.count ?? 0) + 1;
    const waitMs = Math.min(WAIT_MS_MAX, WAIT_MS * 2 ** (count - 1));
    this.failures.set(nodePool, { count, untilMs: nowMs + waitMs });
  }

  succeed(nodePool: string): void {
    this.failures.delete(nodePool);
  }

  /** Until when no other node of the NodePool returns; 0: one may at once. */
  waitsUntilMs(nodePool: string): number {
    return this.failures.get(nodePool)?.untilMs ?? 0;
  }
}
