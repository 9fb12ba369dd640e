import {
  judged,
  type MovedWorkloads,
  movedWorkloads,
  movedWorkloadsText,
  type UndoneMoves,
  withMoved,
} from '../../core/disruption/undone-moves.ts';
import { reason } from '../../core/explain/reason.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import { UNDONE_MOVES } from '../../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import { attempt } from '../writes/attempt.ts';
import { saying } from '../writes/decisions.ts';
import { poolRef } from '../writes/references.ts';
import { type DisruptPass, poolOf } from './pass.ts';

function workloadsOf({ changes }: DisruptPass, pool: NodePool): MovedWorkloads {
  return changes.movedWorkloads.get(pool.name) ?? movedWorkloads(pool.annotations);
}

/** Where what is known of the pool's workloads is something else now, the NodePool says it. */
async function note(pass: DisruptPass, pool: NodePool, workloads: MovedWorkloads): Promise<void> {
  const text = movedWorkloadsText(workloads);
  if (text === movedWorkloadsText(workloadsOf(pass, pool))) return;
  pass.changes.movedWorkloads.set(pool.name, workloads);
  const write = async (): Promise<void> => {
    const annotations = { [UNDONE_MOVES]: text };
    await pass.ports.cluster.patchNodePool(poolRef(pool), { annotations });
  };
  pass.outcome.failures.push(...(await attempt(`NodePool/${pool.name}`, write)));
}

/** Looks whether nodes were launched for pods that were moved not long ago. */
export async function judgeMoves(pass: DisruptPass): Promise<void> {
  const { objects } = pass.state;
  for (const pool of objects.nodePools) {
    const before = workloadsOf(pass, pool);
    const workloads = judged(before, objects, pass.nowMs);
    await note(pass, pool, workloads);
    const isUndone = ([workload, { count }]: readonly [string, UndoneMoves]): boolean =>
      count > (before.get(workload)?.count ?? 0);
    await tell(pass, pool, [...workloads].filter(isUndone));
  }
}

async function tell(
  { ports, outcome }: DisruptPass,
  pool: NodePool,
  undone: readonly (readonly [string, UndoneMoves])[],
): Promise<void> {
  for (const [workload, { untilMs }] of undone) {
    const until = new Date(untilMs).toISOString();
    const said = saying(reason('move-undone-before', { workload, until }));
    const event = { regarding: poolRef(pool), type: 'Warning', reason: 'MoveUndone' } as const;
    const write = () => ports.cluster.event({ ...event, ...said });
    outcome.failures.push(...(await attempt(`NodePool/${pool.name}`, write)));
  }
}

/** Pods of these claims' nodes are evicted now, as the nodes go for the money. */
export async function noteMovedPods(
  pass: DisruptPass,
  claims: readonly NodeClaim[],
): Promise<void> {
  const { pods, nodes } = pass.state.objects;
  for (const [pool, own] of Map.groupBy(claims, (claim) => poolOf(pass, claim))) {
    if (pool === undefined) continue;
    const moved = own.flatMap((claim) => podsOnNode(pods, nodeOfClaim(nodes, claim)?.name));
    await note(pass, pool, withMoved(workloadsOf(pass, pool), moved, pods, pass.nowMs));
  }
}
