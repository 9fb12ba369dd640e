import {
  hasUsageGuard,
  type MeteredUsage,
  usageUnknown,
} from '../../core/disruption/consolidation/usage-guard.ts';
import type { ClusterState, Ports } from '../../ports.ts';
import type { BlockedEvents } from './events.ts';

/** What a pass sees, and where it says what is missing. */
interface Asking {
  readonly ports: Ports;
  readonly state: ClusterState;
  readonly outcome: { readonly events: BlockedEvents };
}

/**
 * What pods use, asked for once in a pass, and only where a NodePool has a guard on it. What is
 * metered is seconds old anyway: a later look in the same pass would not know more.
 */
export class PassUsage {
  #usage: MeteredUsage | undefined;

  /** Undefined: no NodePool has a guard. Of those that have one it is said what is missing. */
  async of({ ports, state, outcome }: Asking): Promise<MeteredUsage | undefined> {
    const guarded = state.objects.nodePools.filter(hasUsageGuard);
    if (guarded.length === 0) return undefined;
    this.#usage ??= await ports.cluster.podUsage();
    if (this.#usage.kind === 'missing') {
      const { why } = this.#usage;
      for (const pool of guarded) await outcome.events.ofPool(pool, [usageUnknown(pool, why)]);
    }
    return this.#usage;
  }
}
