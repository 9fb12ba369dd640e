import { CAPACITY_TYPE, NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { type Recording, recordNothing } from '../writes/decisions.ts';

/** A claim that was tried and got no instance, whatever the cause. */
export async function recordLaunchFailure(
  { ports }: Recording,
  claim: NodeClaim,
  reason: string,
  message: string,
): Promise<void> {
  const { [NODE_POOL]: nodePool = '', [CAPACITY_TYPE]: capacityType } = claim.labels;
  const labels = { nodepool: nodePool, capacity_type: capacityType ?? '', reason };
  ports.recorder.count('cloudprovider_instance_launch_failures_total', labels);
  await ports.recorder.decision({
    // One of each reason and pool: a shortage fails hundreds of claims alike.
    id: `launch-failed-${nodePool}-${reason}`,
    atMs: ports.clock.nowMs(),
    useCase: 'provision',
    object: `NodeClaim/${claim.name}`,
    action: 'launch-failed',
    message,
    detail: {
      reason,
      nodePool,
      ...(capacityType === undefined ? {} : { chosen: { capacityType } }),
    },
  });
}

/** Claims that wait for a brake and not for EC2: of halted NodePools, and above the cap. */
export async function recordHeldClaims(
  recording: Recording,
  waiting: readonly NodeClaim[],
  halted: ReadonlySet<string>,
  due: readonly NodeClaim[],
): Promise<void> {
  const poolOf = (claim: NodeClaim): string => claim.labels[NODE_POOL] ?? '';
  const stopped = waiting.filter((claim) => halted.has(poolOf(claim)));
  for (const pool of [...new Set(stopped.map(poolOf))].sort()) {
    const message = `launches of NodePool ${pool} are halted: its last nodes did not register`;
    await recordNothing(recording, 'launches-halted', `NodePool/${pool}`, message);
  }
  const capped = waiting.length - stopped.length - due.length;
  if (capped === 0) return;
  const message = `${capped} launches wait: maxLaunchesPerMinute is reached`;
  await recordNothing(recording, 'launches-capped', 'NodeClaims', message);
}
