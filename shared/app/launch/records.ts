import { type Reason, reason } from '../../core/explain/reason.ts';
import { CAPACITY_TYPE, NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { type Recording, recordDecision, recordNothing } from '../writes/decisions.ts';

/** A claim that was tried and got no instance, whatever the cause. */
export async function recordLaunchFailure(
  { ports }: Recording,
  claim: NodeClaim,
  cause: string,
  why: Reason,
): Promise<void> {
  const { [NODE_POOL]: nodePool = '', [CAPACITY_TYPE]: capacityType } = claim.labels;
  const labels = { nodepool: nodePool, capacity_type: capacityType ?? '', reason: cause };
  ports.recorder.count('cloudprovider_instance_launch_failures_total', labels);
  const decision = {
    // One of each cause and pool: a shortage fails hundreds of claims alike.
    id: `launch-failed-${nodePool}-${cause}`,
    useCase: 'provision',
    object: `NodeClaim/${claim.name}`,
    action: 'launch-failed',
    reasons: [why],
    detail: {
      reason: cause,
      nodePool,
      ...(capacityType === undefined ? {} : { chosen: { capacityType } }),
    },
  } as const;
  await recordDecision({ ports }, decision);
}

/** Claims that are not launched yet: of halted NodePools, and above the launches per minute. */
export async function recordHeldClaims(
  recording: Recording,
  waiting: readonly NodeClaim[],
  halted: ReadonlySet<string>,
  due: readonly NodeClaim[],
): Promise<void> {
  const poolOf = (claim: NodeClaim): string => claim.labels[NODE_POOL] ?? '';
  const stopped = waiting.filter((claim) => halted.has(poolOf(claim)));
  for (const pool of [...new Set(stopped.map(poolOf))].sort()) {
    const why = reason('launches-halted', { nodePool: pool });
    await recordNothing(recording, why, `NodePool/${pool}`);
  }
  const capped = waiting.length - stopped.length - due.length;
  if (capped === 0) return;
  await recordNothing(recording, reason('launches-capped', { waiting: capped }), 'NodeClaims');
}
