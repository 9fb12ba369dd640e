import { isAboveLimits } from '../../core/disruption/above-limits.ts';
import { isEmpty } from '../../core/disruption/candidates.ts';
import type { Progress } from '../../core/disruption/commands.ts';
import { reason } from '../../core/explain/reason.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { replacedUids, replacesText } from '../../core/model/annotations/replacements.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import { REPLACED_BY, REPLACES, TRIES } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { deleteWithEvents, recordDeletion } from '../writes/deletions.ts';
import { claimRef } from '../writes/references.ts';
import { type DisruptPass, poolOf } from './pass.ts';

export type Failed = Extract<Progress, { readonly kind: 'failed' }>;

/** Whether limits have no room for the replacement beside nodes that stay, and no pod is there. */
function isSurplus(pass: DisruptPass, each: NodeClaim): boolean {
  const { state, resolution, nowMs, changes, outcome } = pass;
  const { nodes, pods } = state.objects;
  const pool = poolOf(pass, each);
  const node = nodeOfClaim(nodes, each);
  if (pool === undefined) return false;
  if (node !== undefined && !isEmpty({ pods: podsOnNode(pods, node.name) })) return false;
  const nodeClaims = state.objects.nodeClaims.map((claim) => {
    if (outcome.deleted.includes(claim.name)) return { ...claim, deletedAtMs: nowMs };
    if (!changes.givenUp.has(claim.uid)) return claim;
    const { [REPLACED_BY]: _, ...annotations } = claim.annotations;
    return { ...claim, annotations };
  });
  const { instanceTypes } = resolution;
  return isAboveLimits(pool, { ...state.objects, nodeClaims, instanceTypes });
}

/**
 * Disruption budgets do not count here: no pod has come to the node, and only because another one
 * was to go was there room for it.
 */
async function removeSurplus(pass: DisruptPass, claim: NodeClaim): Promise<void> {
  const { ports, state, nowMs: atMs } = pass;
  const why = reason('limits-for-both', { nodePool: poolOf(pass, claim)?.name ?? '' });
  const deletion = {
    claim,
    node: nodeOfClaim(state.objects.nodes, claim),
    useCase: 'disrupt',
    atMs,
    said: why,
    reasons: [why],
    label: 'empty',
  } as const;
  await deleteWithEvents(ports, deletion);
  await recordDeletion(ports, deletion);
}

/**
 * What is given up of one replacement is capacity like any other, unless it is broken, was not
 * launched, or is empty and more than limits allow, and no other node that goes needs it. Others
 * that do still wait for it.
 */
export async function release(
  pass: DisruptPass,
  each: NodeClaim,
  failure: Failed | undefined,
): Promise<void> {
  const { ports, commands, changes, outcome } = pass;
  const ref = claimRef(each);
  const waiting = new Set(commands.map(({ claim }) => claim.uid));
  const others = replacedUids(each.annotations).filter(
    (uid) => waiting.has(uid) && !changes.givenUp.has(uid),
  );
  const isReady = isTrue(each, 'Initialized');
  const isAlone = others.length === 0;
  const isLate = failure?.late.has(each.name) === true;
  const isBroken = failure?.broken !== undefined && !isReady && (isAlone || isLate);
  if (isBroken || (isAlone && each.providerId === undefined)) {
    await ports.cluster.delete(ref);
    outcome.deleted.push(each.name);
  } else if (isAlone && isSurplus(pass, each)) {
    await removeSurplus(pass, each);
    outcome.deleted.push(each.name);
  }
  // What has failed is noted, and what goes tries nothing more.
  const tries = isBroken ? { [TRIES]: null } : {};
  const annotations = { [REPLACES]: isAlone ? null : replacesText(others), ...tries };
  await ports.cluster.patchNodeClaim(ref, { annotations });
}
