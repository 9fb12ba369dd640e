import type { FailedCanaries, Trial } from '../core/disruption/canary.ts';
import type { Command, Replacement } from '../core/disruption/commands.ts';
import type { Comparison, DriftTarget } from '../core/disruption/drift.ts';
import { CAPACITY_TYPE, NODE_POOL } from '../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../core/model/provisioning.ts';
import type { ClusterState, Ports } from '../ports.ts';
import type { Failure } from './attempt.ts';
import type { ConsolidationMemory } from './consolidation-memory.ts';
import type { WaitingEvents } from './disrupt-events.ts';
import type { Resolution } from './outlook.ts';
import type { AppSettings } from './settings.ts';
import type { Shadow } from './shadow.ts';

/** A claim that is compared with its NodePool and EC2NodeClass. */
export interface Judged extends Comparison {
  readonly claim: NodeClaim;
  readonly target: DriftTarget;
}

/** The node that tries what is new, with all that no node which is ready has. */
export interface Canary {
  readonly claim: NodeClaim;
  readonly states: readonly string[];
  readonly trial: Trial;
}

/** What disruption goes by. */
export interface DisruptPass {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly state: ClusterState;
  readonly resolution: Resolution;
  readonly nowMs: number;
  readonly shadow: Shadow;
  readonly failures: Failure[];
  /** By the claim's uid; initialised ones that stay. */
  readonly judged: ReadonlyMap<string, Judged>;
  readonly commands: readonly Command[];
  readonly draining: readonly Replacement[];
  /** States that an initialised node has which is ready now. */
  readonly proven: ReadonlySet<string>;
  readonly canaries: readonly Canary[];
  /** Failed canaries as written in this pass, by the pool's name: a patch carries all of them. */
  readonly notes: Map<string, FailedCanaries>;
  /** Claims that were created. */
  readonly created: string[];
  /** Claims that were deleted. */
  readonly deleted: string[];
  /**
   * Uids of claims whose nodes were taken in hand as empty, whatever came of it: what is known of
   * them is not so any more, and nothing else in the pass counts on them or does something to them.
   */
  readonly taken: Set<string>;
  readonly events: WaitingEvents;
  /** Why nodes with pods that might be consolidated stay, by the claim's name. */
  readonly kept: Map<string, string>;
  /** Of these the ones whose reason does not pass by itself. */
  readonly unconsolidatable: Set<string>;
  readonly memory: ConsolidationMemory;
  /** The claim of a node about which somebody asks. */
  readonly asked: string | undefined;
}

export function poolOf({ state }: DisruptPass, claim: NodeClaim): NodePool | undefined {
  return state.objects.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
}

/** What records of a claim have in common. */
export function detailOf(claim: NodeClaim, reason: string): Readonly<Record<string, unknown>> {
  const { [NODE_POOL]: nodePool = '', [CAPACITY_TYPE]: capacityType = '' } = claim.labels;
  return { reason, nodePool, chosen: { capacityType } };
}
