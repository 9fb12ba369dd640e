import type { FailedCanaries, Trial } from '../core/disruption/canary.ts';
import type { Command, Replacement } from '../core/disruption/commands.ts';
import type { Comparison, DriftTarget } from '../core/disruption/drift.ts';
import type { Node } from '../core/model/cluster.ts';
import { CAPACITY_TYPE, NODE_POOL } from '../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../core/model/provisioning.ts';
import type { ClusterEvent, ClusterState, Ports } from '../ports.ts';
import type { Failure } from './attempt.ts';
import type { Resolution } from './outlook.ts';
import { claimRef, nodeRef } from './references.ts';
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
  /** Uids of claims whose empty nodes go in this pass: nothing may count on them any more. */
  readonly removed: Set<string>;
}

export function poolOf({ state }: DisruptPass, claim: NodeClaim): NodePool | undefined {
  return state.objects.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
}

/** The same words on the claim and on its node, as `kubectl describe` of either shows them. */
export async function say(
  { ports }: DisruptPass,
  claim: NodeClaim,
  node: Node | undefined,
  event: Omit<ClusterEvent, 'regarding'>,
): Promise<void> {
  await ports.cluster.event({ regarding: claimRef(claim), ...event });
  if (node !== undefined) await ports.cluster.event({ regarding: nodeRef(node), ...event });
}

/** What records of a claim have in common. */
export function detailOf(claim: NodeClaim, reason: string): Readonly<Record<string, unknown>> {
  const { [NODE_POOL]: nodePool = '', [CAPACITY_TYPE]: capacityType = '' } = claim.labels;
  return { reason, nodePool, chosen: { capacityType } };
}
