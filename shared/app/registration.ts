import { type LifecycleAction, TERMINATION_FINALIZER } from '../core/lifecycle/actions.ts';
import type { ConditionClaim } from '../core/lifecycle/conditions.ts';
import type { Node } from '../core/model/cluster.ts';
import { NODE_POOL, ZONE } from '../core/model/labels.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { NodePatch, Ports } from '../ports.ts';
import type { Failure } from './attempt.ts';
import { saying } from './claim-conditions.ts';
import { openTo } from './nominations.ts';
import { claimRef, nodeRef } from './references.ts';

/** What writing to claims and their nodes goes by. */
export interface ClaimPass {
  readonly ports: Ports;
  readonly nowMs: number;
  readonly failures: Failure[];
}

export async function setConditions(
  { ports, nowMs }: ClaimPass,
  claim: NodeClaim,
  set: readonly ConditionClaim[],
  nodeName?: string,
): Promise<void> {
  const named = nodeName === undefined ? {} : { nodeName };
  const patch = { conditions: saying(set, nowMs), ...named };
  await ports.cluster.patchNodeClaimStatus(claimRef(claim), patch);
}

/**
 * Opens the node: its labels, taints, finalizer and owner are then those of the claim. A node that
 * has just joined changes all the time: only its taints have to be those that were read.
 */
export async function register(
  pass: ClaimPass,
  claim: NodeClaim,
  action: Extract<LifecycleAction, { kind: 'register' }>,
): Promise<boolean> {
  const { ports } = pass;
  const { node, pods, labels, annotations, taints } = action;
  const patch: NodePatch = {
    labels,
    annotations,
    taints,
    taintsBefore: node.taints,
    addFinalizer: TERMINATION_FINALIZER,
    owner: { kind: 'NodeClaim', name: claim.name, uid: claim.uid },
  };
  const open = () => ports.cluster.patchNode(nodeRef(node), patch);
  const { result, failures } = await openTo(ports, node, pods, open);
  pass.failures.push(...failures);
  return result === 'done';
}

/** The claim says that its node has joined. */
export async function confirm(pass: ClaimPass, claim: NodeClaim, node: Node): Promise<void> {
  const { ports } = pass;
  const registered = { type: 'Registered', status: 'True', reason: 'Registered', message: '' };
  await setConditions(pass, claim, [{ ...registered, status: 'True' }], node.name);
  const pool = claim.labels[NODE_POOL];
  if (pool !== undefined) await ports.memory.recordRegistration(pool, true);
  ports.recorder.count('nodes_created_total', {
    nodepool: pool ?? '',
    zone: claim.labels[ZONE] ?? '',
  });
}
