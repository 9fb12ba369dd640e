import { type Reason, reason } from '../explain/reason.ts';
import type { NodePool } from '../model/provisioning.ts';
import { type Candidate, isEmpty } from './candidates.ts';
import { heldMoves } from './held-moves.ts';
import { isConsolidatable } from './pod-events.ts';
import { movedWorkloads, notMovedNow } from './undone-moves.ts';

/** The last move of the node was given up, because its pods held it, and no other begins yet. */
export function heldBefore({ annotations }: Candidate['claim'], nowMs: number): readonly Reason[] {
  const { untilMs } = heldMoves(annotations);
  if (nowMs >= untilMs) return [];
  return [reason('move-held-before', { until: new Date(untilMs).toISOString() })];
}

/** A move of its pods was undone by a node that was launched for them, and no other begins yet. */
function undoneBefore(
  { annotations }: NodePool,
  pods: Candidate['pods'],
  nowMs: number,
): readonly Reason[] {
  const waits = notMovedNow(movedWorkloads(annotations), pods, nowMs);
  if (waits === undefined) return [];
  const { workload, untilMs } = waits;
  return [reason('move-undone-before', { workload, until: new Date(untilMs).toISOString() })];
}

/** Why its pool never lets the node go, or not so soon; empty: it may go. */
export function reasonsNotDue(
  each: Pick<Candidate, 'claim' | 'pods'> & { readonly pool: NodePool },
  nowMs: number,
): readonly Reason[] {
  const { pool } = each;
  const { consolidationPolicy, consolidateAfter } = pool.disruption;
  const isNever = consolidateAfter === 'Never';
  const isSoon = !isNever && !isConsolidatable(each, consolidateAfter, nowMs);
  const isOther = consolidationPolicy === 'WhenEmpty' && !isEmpty(each);
  return [
    ...(pool.replicas === undefined
      ? []
      : [reason('nodepool-static-stays', { nodePool: pool.name })]),
    ...(isOther ? [reason('policy-when-empty', {})] : []),
    ...(isNever ? [reason('consolidate-after-never', {})] : []),
    ...(isSoon ? [reason('pods-changed-recently', {})] : []),
    ...(isEmpty(each) ? [] : heldBefore(each.claim, nowMs)),
    ...undoneBefore(pool, each.pods, nowMs),
  ];
}
