import { triedBy } from '../../core/disruption/tried.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import { type LifecycleAction, TERMINATION_TIMESTAMP } from '../../core/lifecycle/actions.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { launchedAtMs } from '../../core/lifecycle/due-times.ts';
import {
  impairedInstances,
  type RepairCause,
  unhealthyNodes,
} from '../../core/lifecycle/repair.ts';
import { withinBudgets } from '../../core/lifecycle/repair-budgets.ts';
import { CAPACITY_TYPE, NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterState, Ports } from '../../ports.ts';
import type { AppSettings } from '../settings.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { recordDecision, recordNothing, saying } from '../writes/decisions.ts';
import { claimRef } from '../writes/references.ts';
import type { LifecycleMemory } from './memory.ts';

/** What looking after health goes by. */
export interface HealthPass {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly state: ClusterState;
  readonly nowMs: number;
  readonly memory: LifecycleMemory;
}

/**
 * What is wrong with claims whose instances run, by the claim's uid: EC2's checks, and the nodes'
 * own conditions where repair is on.
 */
export async function readHealth(
  { ports, settings, state, nowMs, memory }: HealthPass,
  failures: Failure[],
): Promise<ReadonlyMap<string, RepairCause>> {
  const { nodes } = state.objects;
  const nodeClaims = state.objects.nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  const unhealthy = new Map<string, RepairCause>();
  if (settings.nodeRepair) {
    const report = unhealthyNodes(nodeClaims, nodes, nowMs);
    const { nodePools } = state.objects;
    const budgeted = withinBudgets(report.unhealthy, { nodePools, nodeClaims, nodes }, nowMs);
    for (const [uid, cause] of budgeted.unhealthy) unhealthy.set(uid, cause);
    const many = reason('repair-blocked-by-share', {});
    const budget = reason('repair-blocked-by-budget', {});
    for (const claim of report.blocked) await publishRepairBlocked(ports, claim, many);
    for (const claim of budgeted.held) await publishRepairBlocked(ports, claim, budget);
  }
  if (nodeClaims.length === 0 || !memory.takeChecks(nowMs)) return unhealthy;
  const ask = async (): Promise<void> => {
    const statuses = await ports.compute.statuses();
    for (const [uid, cause] of impairedInstances(nodeClaims, statuses, nowMs)) {
      unhealthy.set(uid, cause);
    }
  };
  // Without an answer the other duties go on: repair by EC2's checks is one of many.
  failures.push(...(await attempt('status checks of instances', ask)));
  return unhealthy;
}

async function publishRepairBlocked(ports: Ports, claim: NodeClaim, why: Reason): Promise<void> {
  const pool = `NodePool/${claim.labels[NODE_POOL] ?? ''}`;
  await recordNothing({ ports }, why, pool, 'lifecycle');
  const { message, code } = saying(why);
  await ports.cluster.event({
    regarding: claimRef(claim),
    type: 'Warning',
    reason: 'NodeRepairBlocked',
    message: `${message.slice(0, 1).toUpperCase()}${message.slice(1)}`,
    code,
  });
}

type Deletion = Extract<LifecycleAction, { kind: 'delete-claim' }>;

async function publishUnhealthy(
  { ports, nowMs }: HealthPass,
  claim: NodeClaim,
  cause: RepairCause,
) {
  const ref = claimRef(claim);
  const isNode = cause.condition !== undefined;
  const type = isNode ? 'NodeUnhealthy' : 'InstanceUnhealthy';
  const event = { type: 'Warning', reason: type, ...saying(cause.why) } as const;
  await ports.cluster.event({ regarding: ref, ...event });
  if (!cause.isImmediate) return;
  // The deadline of the drain is now: nothing on the node is waited for.
  const annotations = { [TERMINATION_TIMESTAMP]: new Date(nowMs).toISOString() };
  await ports.cluster.patchNodeClaim(ref, { annotations });
}

function countDeletion({ ports }: HealthPass, claim: NodeClaim, { reason, repairCause }: Deletion) {
  const nodepool = claim.labels[NODE_POOL] ?? '';
  const capacity_type = claim.labels[CAPACITY_TYPE] ?? '';
  const { recorder } = ports;
  recorder.count('nodeclaims_disrupted_total', { reason, nodepool, capacity_type });
  if (repairCause === undefined) return;
  const { condition } = repairCause;
  if (condition === undefined) {
    recorder.count('interruption_instance_status_unhealthy_total', { category: reason });
    return;
  }
  const image_id = claim.imageId ?? '';
  const labels = { condition, nodepool, capacity_type, image_id };
  recorder.count('nodeclaims_unhealthy_disrupted_total', labels);
}

/** Why EC2 has ended an instance that never joined, where it says so. */
function endCause(why: Reason): string | undefined {
  const cause = why.code === 'instance-terminated-early' ? why.parameters.cause : '';
  return cause === '' ? undefined : cause;
}

/** Deletes a claim that nobody has asked to go, and says why. */
export async function deleteClaim(
  pass: HealthPass,
  claim: NodeClaim,
  action: Deletion,
): Promise<void> {
  const { ports, nowMs } = pass;
  const nodepool = claim.labels[NODE_POOL] ?? '';
  // Instances that end while they boot do so again and again: a key they may not use, a bad image.
  const isUnjoined = action.reason === 'garbage_collected' && !isTrue(claim, 'Registered');
  // The canary has failed for all: one that has had no time to join tells nothing of the NodePool.
  const isUnproven = action.why.code === 'image-not-proven';
  const isFailed = !isUnproven && (action.reason === 'registration_timeout' || isUnjoined);
  if (action.repairCause !== undefined) await publishUnhealthy(pass, claim, action.repairCause);
  await ports.cluster.delete(claimRef(claim));
  // Only now: a deletion that fails is tried again, and one node is to count once.
  // One that is late is seen by its claim; of one that has ended nothing is left in a moment.
  const failed = {
    launchedAtMs: launchedAtMs(claim),
    tried: isUnjoined ? triedBy(claim) : [],
    cause: endCause(action.why),
  };
  if (isFailed && nodepool !== '') await ports.memory.recordRegistration(nodepool, failed);
  countDeletion(pass, claim, action);
  const decision = {
    id: `lifecycle-${claim.name}-${action.reason}`,
    atMs: nowMs,
    useCase: 'lifecycle',
    object: `NodeClaim/${claim.name}`,
    action: 'delete',
    reasons: [action.why],
    detail: {
      reason: action.reason,
      nodePool: nodepool,
      node: claim.nodeName ?? null,
      chosen: { capacityType: claim.labels[CAPACITY_TYPE] ?? '' },
    },
  } as const;
  await recordDecision({ ports }, decision);
}
