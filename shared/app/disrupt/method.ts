import type { DisruptionClass } from '../../core/disruption/candidates.ts';
import type { DisruptionReason } from '../../core/model/provisioning.ts';
import type { DisruptionCandidate } from './candidates.ts';
import type { DisruptPass } from './pass.ts';

/** What takes too long to find under the Lease that `provision` decides under. */
export interface Search {
  /** Looks for commands in what the pass has read; nothing is read or written. */
  readonly run: () => FoundCommands;
}

/** What a search came to. */
export interface FoundCommands {
  readonly isEmpty: boolean;
  /** Carries the commands out that hold in the cluster as the pass has read it since. */
  readonly carryOut: (again: DisruptPass) => Promise<void>;
}

/** One way to disrupt nodes. */
export interface DisruptionMethod {
  /** Disruption budgets, events and metrics name it. */
  readonly reason: DisruptionReason;
  readonly class: DisruptionClass;
  /** Nodes that the reason applies to; what blocks them is for {@link disrupt} to find. */
  readonly candidates: (pass: DisruptPass) => readonly DisruptionCandidate[];
  /** Chooses among the candidates, and taints, replaces or deletes what budgets allow. */
  readonly disrupt: (
    pass: DisruptPass,
    candidates: readonly DisruptionCandidate[],
  ) => Promise<Search | undefined>;
}
