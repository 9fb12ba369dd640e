import {
  endedTargets,
  type FailedMoves,
  failedMoves,
  failedMovesText,
  remembered,
  targetOf,
  waitingTargets,
  withFailure,
  withoutTargets,
  withSuccess,
} from '../../core/disruption/failed-moves.ts';
import { type Reason, reason, sentence } from '../../core/explain/reason.ts';
import { conditionOf } from '../../core/lifecycle/conditions.ts';
import { FAILED_MOVES } from '../../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { attempt } from '../writes/attempt.ts';
import { saying } from '../writes/decisions.ts';
import { poolRef } from '../writes/references.ts';
import { type DisruptPass, poolOf } from './pass.ts';
import { writePoolCondition } from './pool-condition.ts';

/** Informational: whether nodes that consolidation has launched become ready. */
const TYPE = 'ConsolidationHealthy';

function movesOf({ changes }: DisruptPass, pool: NodePool): FailedMoves {
  return changes.failedMoves.get(pool.name) ?? failedMoves(pool.annotations);
}

async function write(pass: DisruptPass, pool: NodePool, moves: FailedMoves): Promise<void> {
  pass.changes.failedMoves.set(pool.name, moves);
  const annotations = { [FAILED_MOVES]: failedMovesText(moves) };
  await pass.ports.cluster.patchNodePool(poolRef(pool), { annotations });
}

/** The node of a replacement did not become ready: nothing of its kind is moved to for a while. */
export async function noteFailedMove(
  pass: DisruptPass,
  claim: NodeClaim,
  cause: Reason,
): Promise<void> {
  const pool = poolOf(pass, claim);
  if (pool !== undefined) await noteFailure(pass, pool, targetOf(claim), cause);
}

/** Replacements that ended while they booted: their claims have gone before a pass could see them. */
export async function noteEndedMoves(pass: DisruptPass): Promise<void> {
  const { ports, state, nowMs, outcome } = pass;
  const failed = await ports.memory.failedRegistrations();
  for (const pool of state.objects.nodePools) {
    const tried = failed.get(pool.name)?.tried ?? new Map();
    for (const target of endedTargets(tried, movesOf(pass, pool), nowMs)) {
      const note = () =>
        noteFailure(pass, pool, target, reason('instance-terminated-early', { cause: '' }));
      outcome.failures.push(...(await attempt(`NodePool/${pool.name}`, note)));
    }
  }
}

async function noteFailure(
  pass: DisruptPass,
  pool: NodePool,
  target: string,
  cause: Reason,
): Promise<void> {
  const { ports, nowMs } = pass;
  const before = movesOf(pass, pool);
  const moves = withFailure(remembered(before, nowMs), target, nowMs);
  const move = moves.get(target);
  if (move === undefined || moves.get(target) === before.get(target)) return;
  await write(pass, pool, moves);
  const until = new Date(move.untilMs).toISOString();
  const why = reason('moves-suspended', { target, until, cause: sentence(cause) });
  const said = { reason: 'ReplacementNotReady', ...saying(why) };
  const { reason: type, message } = said;
  await writePoolCondition(pass, pool, { type: TYPE, status: 'False', reason: type, message });
  await ports.cluster.event({ regarding: poolRef(pool), type: 'Warning', ...said });
}

/** Nodes became ready and took the place of others: their targets have not failed in a row. */
export async function noteMoved(pass: DisruptPass, claims: readonly NodeClaim[]): Promise<void> {
  for (const [pool, own] of Map.groupBy(claims, (claim) => poolOf(pass, claim))) {
    if (pool === undefined) continue;
    const before = movesOf(pass, pool);
    const moves = withSuccess(before, new Set(own.map(targetOf)), pass.nowMs);
    if (moves.size < before.size) await write(pass, pool, moves);
  }
}

/** Forgets failures that were long ago, and says when there is nothing to wait for any more. */
export async function forgetFailedMoves(pass: DisruptPass): Promise<void> {
  const { state, outcome, nowMs } = pass;
  for (const pool of state.objects.nodePools) {
    const moves = movesOf(pass, pool);
    const kept = remembered(moves, nowMs);
    const isOver =
      waitingTargets(kept, nowMs).size === 0 && conditionOf(pool, TYPE)?.status === 'False';
    if (kept.size === moves.size && !isOver) continue;
    const forget = async (): Promise<void> => {
      if (kept.size < moves.size) await write(pass, pool, kept);
      if (!isOver) return;
      const condition = { type: TYPE, status: 'True', reason: TYPE, message: '' } as const;
      await writePoolCondition(pass, pool, condition);
    };
    outcome.failures.push(...(await attempt(`NodePool/${pool.name}`, forget)));
  }
}

/** The snapshot without what consolidation is not to launch now. */
export function withoutFailedMoves(pass: DisruptPass, snapshot: ClusterSnapshot): ClusterSnapshot {
  const targets = new Map(
    pass.state.objects.nodePools.map((pool) => [
      pool.name,
      waitingTargets(movesOf(pass, pool), pass.nowMs),
    ]),
  );
  if ([...targets.values()].every(({ size }) => size === 0)) return snapshot;
  const instanceTypes = new Map(
    [...snapshot.instanceTypes].map(([pool, types]) => [
      pool,
      withoutTargets(types, targets.get(pool) ?? new Set()),
    ]),
  );
  return { ...snapshot, instanceTypes };
}
