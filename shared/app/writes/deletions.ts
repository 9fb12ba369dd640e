import type { Reason } from '../../core/explain/reason.ts';
import type { Node } from '../../core/model/cluster.ts';
import { CAPACITY_TYPE, NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { DecisionRecord, Ports } from '../../ports.ts';
import { recordEvent } from './claim-events.ts';
import { recordDecision, saying } from './decisions.ts';
import { claimRef } from './references.ts';

/** The decision to delete a NodeClaim whose node is drained then. */
export interface Deletion {
  readonly claim: NodeClaim;
  readonly node: Node | undefined;
  readonly useCase: DecisionRecord['useCase'];
  readonly atMs: number;
  /** What the Events of the claim and of its node say. */
  readonly said: Reason;
  /** What the record says. */
  readonly reasons: readonly Reason[];
  /** The value of the label `reason` of Karpenter's metric. */
  readonly label: string;
}

function idOf({ useCase, claim }: Deletion): string {
  return `${useCase}-${claim.name}-delete`;
}

/** What records of a claim have in common. */
export function detailOf(claim: NodeClaim, reason: string): Readonly<Record<string, unknown>> {
  const { [NODE_POOL]: nodePool = '', [CAPACITY_TYPE]: capacityType = '' } = claim.labels;
  return { reason, nodePool, chosen: { capacityType } };
}

/** Says why on the claim and its node, and deletes the claim; `lifecycle` drains the node. */
export async function deleteWithEvents(ports: Ports, deletion: Deletion): Promise<void> {
  const { claim, node, said } = deletion;
  await recordEvent({ ports }, claim, node, {
    type: 'Normal',
    reason: 'DisruptionTerminating',
    ...saying(said),
    decision: idOf(deletion),
  });
  await ports.cluster.delete(claimRef(claim));
}

/** Counts and records the deletion. */
export async function recordDeletion(ports: Ports, deletion: Deletion): Promise<void> {
  const { claim, useCase, atMs, reasons, label } = deletion;
  const { [NODE_POOL]: nodepool = '', [CAPACITY_TYPE]: capacity_type = '' } = claim.labels;
  ports.recorder.count('nodeclaims_disrupted_total', { reason: label, nodepool, capacity_type });
  const record = {
    id: idOf(deletion),
    atMs,
    useCase,
    object: `NodeClaim/${claim.name}`,
    action: 'delete',
    reasons,
    detail: detailOf(claim, label),
  } as const;
  await recordDecision({ ports }, record);
}
