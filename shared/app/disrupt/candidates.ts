import { type Candidate, isEmpty } from '../../core/disruption/candidates.ts';
import { shiftedZones } from '../../core/disruption/zonal-shift.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import { ZONE } from '../../core/model/labels.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import { isDisrupted } from '../../core/model/taint.ts';
import { driftedSinceMs } from './drift-results.ts';
import type { DisruptPass, DriftResult } from './pass.ts';

/** A node of a NodePool. */
export interface PoolCandidate extends Candidate {
  readonly pool: NodePool;
}

/** An initialised node of a NodePool in use that nobody replaces or removes yet. */
export interface DisruptionCandidate extends PoolCandidate {
  readonly drift: DriftResult;
}

/** What may be chosen in this pass; in no order. */
export function disruptionCandidates(pass: DisruptPass): readonly DisruptionCandidate[] {
  const { state, driftResults, commands, draining, changes } = pass;
  const { nodes, pods } = state.objects;
  // What replaces another node stays empty until that one has gone.
  const busy = new Set(
    [...commands, ...draining].flatMap(({ claim, replacements }) =>
      [claim, ...replacements].map(({ uid }) => uid),
    ),
  );
  const away = new Set(shiftedZones(state.objects.nodePools).map(({ zone }) => zone));
  return [...driftResults.values()].flatMap((each): readonly DisruptionCandidate[] => {
    const { claim, target } = each;
    const node = nodeOfClaim(nodes, claim);
    if (busy.has(claim.uid) || changes.taken.has(claim.uid)) return [];
    if (claim.providerId === undefined) return [];
    if (node === undefined || node.deletedAtMs !== undefined) return [];
    // A taint that was forgotten goes in this pass: what is known of the node is not so any more.
    if (isDisrupted(node)) return [];
    // Its pods could only go where others are, and nothing comes back to the zone.
    if (away.has(node.labels[ZONE] ?? '')) return [];
    return [{ claim, node, pods: podsOnNode(pods, node.name), drift: each, pool: target.pool }];
  });
}

/** Those that are not what their NodePool asks for: empty ones first, then the oldest drift. */
export function driftedCandidates(pass: DisruptPass): readonly DisruptionCandidate[] {
  return disruptionCandidates(pass)
    .filter(({ drift }) => drift.drifts.length > 0)
    .toSorted(
      (a, b) =>
        Number(isEmpty(b)) - Number(isEmpty(a)) ||
        driftedSinceMs(pass, a.claim) - driftedSinceMs(pass, b.claim) ||
        (a.claim.name < b.claim.name ? -1 : 1),
    );
}
