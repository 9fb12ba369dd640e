import { replacesText } from '../core/disruption/commands.ts';
import { DECISION, NODE_POOL, REPLACES } from '../core/model/labels.ts';
import type { PlannedNodeClaim } from '../core/model/plan.ts';
import type { DisruptionReason, NodeClaim } from '../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../core/model/snapshot.ts';
import type { NewNodeClaim } from '../ports.ts';
import { tellReplaced } from './disrupt-commands.ts';
import { say } from './disrupt-events.ts';
import { type DisruptPass, detailOf } from './disrupt-pass.ts';
import { plannedClaim } from './new-claims.ts';
import { claimRef } from './references.ts';

/** As `provision` writes them; none where the pool has gone. */
export function replacementClaims(
  { ports }: DisruptPass,
  { nodePools, instanceTypes }: Pick<ClusterSnapshot, 'nodePools' | 'instanceTypes'>,
  planned: PlannedNodeClaim,
): readonly NewNodeClaim[] {
  const pool = nodePools.find(({ name }) => name === planned.nodePool);
  if (pool === undefined) return [];
  const name = `${pool.name}-${ports.ids.suffix()}`;
  // Its pods run still, and come back as others.
  return [plannedClaim(planned, pool, instanceTypes.get(pool.name) ?? [], name, [])];
}

/** Claims whose nodes go together once what comes in their place is ready. */
export interface Replaced {
  readonly claims: readonly NodeClaim[];
  readonly replacements: readonly NewNodeClaim[];
  readonly reason: DisruptionReason;
  /** Why, for people. */
  readonly message: string;
}

/**
 * The claims name their replacements, and then these are written. Fewer than asked for come back
 * where somebody else has written meanwhile: the next pass gives them up.
 */
export async function createReplacements(
  pass: DisruptPass,
  { claims, replacements, reason, message }: Replaced,
): Promise<readonly NodeClaim[]> {
  const { ports, nowMs, created } = pass;
  const made: NodeClaim[] = [];
  const names = replacements.map(({ name }) => name);
  const [first] = claims;
  if (names.length === 0 || first === undefined) return made;
  for (const claim of claims) {
    if ((await tellReplaced(pass, claim, names, reason)) !== 'done') return made;
  }
  const idOf = (claim: NodeClaim): string => `disrupt-${claim.name}-replace-${nowMs}`;
  const own = { [DECISION]: idOf(first), [REPLACES]: replacesText(claims.map(({ uid }) => uid)) };
  for (const each of replacements) {
    const annotations = { ...each.annotations, ...own };
    const { claim: written } = await ports.cluster.createNodeClaim({ ...each, annotations });
    made.push(written);
    created.push(written.name);
    const nodepool = each.labels[NODE_POOL] ?? '';
    ports.recorder.count('nodeclaims_created_total', { reason: reason.toLowerCase(), nodepool });
    await ports.cluster.event({
      regarding: claimRef(written),
      type: 'Normal',
      reason: 'DisruptionLaunching',
      message: `Launching NodeClaim: ${reason}`,
    });
  }
  for (const claim of claims) {
    await ports.recorder.decision({
      id: idOf(claim),
      atMs: nowMs,
      useCase: 'disrupt',
      object: `NodeClaim/${claim.name}`,
      action: 'replace',
      message: `${message}; by ${names.join(', ')}`,
      detail: { ...detailOf(claim, reason.toLowerCase()), replacements: names },
    });
  }
  return made;
}

/** Says on the claim and its node what they wait for. */
export async function sayWaiting(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Parameters<typeof say>[2],
  made: readonly NodeClaim[],
): Promise<void> {
  const message = `Waiting for ${made.map(({ name }) => name).join(', ')} to be ready`;
  const event = { type: 'Normal', reason: 'DisruptionWaitingReadiness', message } as const;
  await say(pass, claim, node, event);
}
