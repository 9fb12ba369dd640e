import { reason } from '../../core/explain/reason.ts';
import { taintList } from '../../core/launch/node-bootstrap.ts';
import { type LifecycleAction, TERMINATION_FINALIZER } from '../../core/lifecycle/actions.ts';
import type { ConditionClaim } from '../../core/lifecycle/conditions.ts';
import { launchedAtMs } from '../../core/lifecycle/due-times.ts';
import { unplannedTaint } from '../../core/lifecycle/unplanned-taint.ts';
import type { Node } from '../../core/model/cluster.ts';
import { NODE_POOL, PLANNED_PODS, ZONE } from '../../core/model/labels.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { plannedPods } from '../../core/nomination/planned-pods.ts';
import type { NodePatch, Ports } from '../../ports.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { withReadiness } from '../writes/claim-readiness.ts';
import { saying } from '../writes/decisions.ts';
import { claimRef, nodeRef } from '../writes/references.ts';

/** What writing to claims and their nodes goes by. */
export interface ClaimPass {
  readonly ports: Ports;
  readonly nowMs: number;
  readonly failures: Failure[];
  /** Something was written, or tried. */
  acted: boolean;
}

/** Carries a step out; false: it was refused, or has to wait. */
export async function carryOut(
  pass: ClaimPass,
  claim: NodeClaim,
  step: () => Promise<boolean>,
): Promise<boolean> {
  let isDone = false;
  const steps = async (): Promise<void> => {
    pass.acted = true;
    isDone = await step();
  };
  pass.failures.push(...(await attempt(`NodeClaim/${claim.name}`, steps)));
  return isDone;
}

export async function setConditions(
  { ports, nowMs }: Pick<ClaimPass, 'ports' | 'nowMs'>,
  claim: NodeClaim,
  set: readonly ConditionClaim[],
  nodeName?: string,
): Promise<void> {
  const named = nodeName === undefined ? {} : { nodeName };
  const patch = { conditions: withReadiness(set, nowMs), ...named };
  await ports.cluster.patchNodeClaimStatus(claimRef(claim), patch);
}

type Registration = Extract<LifecycleAction, { kind: 'register' }>;

/**
 * Gives the node its finalizer and owner; it stays closed. kube-scheduler tries waiting pods when a
 * node's labels, annotations or taints change, so those come when it opens.
 */
export async function prepare(
  { ports: { cluster } }: ClaimPass,
  claim: NodeClaim,
  node: Node,
): Promise<boolean> {
  const owner = { kind: 'NodeClaim', name: claim.name, uid: claim.uid };
  const patch: NodePatch = { addFinalizer: TERMINATION_FINALIZER, owner };
  return (await cluster.patchNode(nodeRef(node), patch)) === 'done';
}

/** The claim names its pods anew; undefined: they are the same. */
export async function namePods(
  { ports: { cluster } }: ClaimPass,
  claim: NodeClaim,
  pods: string | undefined,
): Promise<boolean> {
  if (pods === undefined) return true;
  const patch = { annotations: { [PLANNED_PODS]: pods } };
  return (await cluster.patchNodeClaim(claimRef(claim), patch)) === 'done';
}

/**
 * Opens the node: its labels and taints are then those of the claim. A node that has just joined
 * changes all the time: only its taints have to be those that were read.
 */
export async function open(
  { ports }: ClaimPass,
  { node, labels, annotations, taints }: Registration,
): Promise<boolean> {
  const patch: NodePatch = { labels, annotations, taints, taintsBefore: node.taints };
  return (await ports.cluster.patchNode(nodeRef(node), patch)) === 'done';
}

/**
 * The claim says that its node has joined. One that keeps the pods away that it was launched for
 * counts like one that has not: the next would be launched for them as well.
 */
export async function confirm(
  pass: ClaimPass,
  claim: NodeClaim,
  node: Node,
  pods: readonly Pod[],
): Promise<void> {
  const { ports } = pass;
  const uids = new Set(plannedPods(claim));
  const planned = pods.filter(({ uid }) => uids.has(uid));
  const taint = unplannedTaint(claim, node, planned);
  const nowMs = ports.clock.nowMs();
  const registered = { type: 'Registered', status: 'True', reason: 'Registered', message: '' };
  await setConditions({ ports, nowMs }, claim, [{ ...registered, status: 'True' }], node.name);
  const pool = claim.labels[NODE_POOL];
  const failed = { launchedAtMs: launchedAtMs(claim), tried: [] };
  if (pool !== undefined) {
    await ports.memory.recordRegistration(pool, taint === undefined ? undefined : failed);
  }
  if (taint !== undefined) {
    const said = { node: node.name, taint: taintList([taint]), nodeClaim: claim.name };
    await ports.cluster.event({
      regarding: claimRef(claim),
      type: 'Warning',
      reason: 'UnplannedTaint',
      ...saying(reason('taint-unplanned', said)),
    });
  }
  ports.recorder.count('nodes_created_total', {
    nodepool: pool ?? '',
    zone: claim.labels[ZONE] ?? '',
  });
}
