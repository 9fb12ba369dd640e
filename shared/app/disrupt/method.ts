import type { VoluntaryReason } from '../../core/disruption/voluntary.ts';
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
  /** Disruption budgets, events and metrics name it; `VOLUNTARY_TERMS` has its terms. */
  readonly reason: VoluntaryReason;
  /** Nodes that the reason applies to, blocked ones too: {@link disrupt} says why they stay. */
  readonly candidates: (pass: DisruptPass) => readonly DisruptionCandidate[];
  /**
   * Chooses among the candidates, and begins to disrupt them with `beginDisruption` or
   * `annotateReplaced`, which refuse what pauses, `do-not-disrupt`, PodDisruptionBudgets or disruption
   * budgets block; `deleteNodeClaim` takes no other nodes.
   */
  readonly disrupt: (
    pass: DisruptPass,
    candidates: readonly DisruptionCandidate[],
  ) => Promise<Search | undefined>;
}
