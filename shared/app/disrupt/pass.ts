import type { FailedCanaries, Trial } from '../../core/disruption/canary.ts';
import type { Command, Replacement } from '../../core/disruption/commands.ts';
import type { Comparison, DriftTarget } from '../../core/disruption/drift.ts';
import type { FailedMoves } from '../../core/disruption/failed-moves.ts';
import type { MovedWorkloads } from '../../core/disruption/undone-moves.ts';
import type { VoluntaryReason } from '../../core/disruption/voluntary.ts';
import type { Reason } from '../../core/explain/reason.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import type { ClusterState, Ports } from '../../ports.ts';
import type { Resolution } from '../planning/provisioning-input.ts';
import type { SharedGroups } from '../planning/shared-groups.ts';
import type { AppSettings } from '../settings.ts';
import type { Failure } from '../writes/attempt.ts';
import type { KarpenterLease } from '../writes/karpenter-lease.ts';
import type { ConsolidationMemory } from './consolidation-memory.ts';
import type { BlockedEvents } from './events.ts';
import type { PassUsage } from './usage.ts';

/** A claim that is compared with its NodePool and EC2NodeClass. */
export interface DriftResult extends Comparison {
  readonly claim: NodeClaim;
  readonly target: DriftTarget;
}

/** The node that tries what is new, with all that no node which is ready has. */
export interface Canary {
  readonly claim: NodeClaim;
  readonly states: readonly string[];
  readonly trial: Trial;
}

/** Nodes that go together, as it was begun or done in a pass. */
export interface Disruption {
  readonly reason: VoluntaryReason;
  readonly claims: readonly NodeClaim[];
  /** Claims that were written: the nodes go once these are ready. */
  readonly replacements: readonly NodeClaim[];
  /** Why, the one that decided first. */
  readonly reasons: readonly Reason[];
}

/** What came of a pass so far. It stays when the pass observes the cluster again. */
export interface PassOutcome {
  /** Names of claims that were created. */
  readonly created: string[];
  /** Names of claims that were deleted. */
  readonly deleted: string[];
  /** What was begun or done. */
  readonly disruptions: Disruption[];
  readonly failures: Failure[];
  readonly events: BlockedEvents;
  /** Why nodes with pods that might be consolidated stay, by the claim's name. */
  readonly kept: Map<string, readonly Reason[]>;
  /** Why nodes that are to return to what is tried first stay, by the claim's name. */
  readonly fallbacks: Map<string, readonly Reason[]>;
  /** Of the reasons in `kept` the ones that do not pass by themselves. */
  readonly unconsolidatable: Map<string, readonly Reason[]>;
}

/** What a pass has done since it observed the cluster: its `state` does not show it. */
export interface PassChanges {
  /** Uids of claims that there was no time to mark. */
  readonly unmarked: Set<string>;
  /** Failed canaries as written, by the pool's name: a patch carries all of them. */
  readonly failedCanaries: Map<string, FailedCanaries>;
  /** The same of failed moves. */
  readonly failedMoves: Map<string, FailedMoves>;
  /** The same of workloads that were moved. */
  readonly movedWorkloads: Map<string, MovedWorkloads>;
  /** Uids of claims whose replacement was given up. */
  readonly givenUp: Set<string>;
  /**
   * Uids of claims whose nodes were taken in hand as empty, whatever came of it: what is known of
   * them is not so any more, and nothing else in the pass counts on them or does something to them.
   */
  readonly taken: Set<string>;
  /** Uids of claims whose nodes the pass disrupts. */
  readonly begun: Set<string>;
  /** Uids of claims that were allowed to begin: budgets count them. */
  readonly chosen: Set<string>;
}

/** What disruption goes by. */
export interface DisruptPass {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly state: ClusterState;
  readonly resolution: Resolution;
  readonly nowMs: number;
  readonly karpenter: KarpenterLease;
  /** Room that is reserved before NodeClaims are written. */
  readonly shared: SharedGroups;
  /** By the claim's uid; initialised ones that stay. */
  readonly driftResults: ReadonlyMap<string, DriftResult>;
  readonly commands: readonly Command[];
  readonly draining: readonly Replacement[];
  /** States that an initialised node has which is ready now. */
  readonly proven: ReadonlySet<string>;
  readonly canaries: readonly Canary[];
  readonly memory: ConsolidationMemory;
  /** What pods use. */
  readonly usage: PassUsage;
  /** The claim of a node about which somebody asks. */
  readonly asked: string | undefined;
  /** Nodes that may be chosen, by the claim's uid, and why; undefined: nobody has approved any. */
  readonly approved: ReadonlyMap<string, VoluntaryReason> | undefined;
  readonly outcome: PassOutcome;
  readonly changes: PassChanges;
}

export function newOutcome(events: BlockedEvents): PassOutcome {
  return {
    created: [],
    deleted: [],
    disruptions: [],
    failures: [],
    events,
    kept: new Map(),
    fallbacks: new Map(),
    unconsolidatable: new Map(),
  };
}

export function noChanges(): PassChanges {
  return {
    unmarked: new Set(),
    failedCanaries: new Map(),
    failedMoves: new Map(),
    movedWorkloads: new Map(),
    givenUp: new Set(),
    taken: new Set(),
    begun: new Set(),
    chosen: new Set(),
  };
}

/** Whether the node may be chosen for this reason: where something was approved, nothing else goes. */
export function mayChoose(
  { approved }: Pick<DisruptPass, 'approved'>,
  { uid }: NodeClaim,
  reason: VoluntaryReason,
): boolean {
  return approved === undefined || approved.get(uid) === reason;
}

export function poolOf({ state }: DisruptPass, claim: NodeClaim): NodePool | undefined {
  return state.objects.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
}
