import {
  CANARY_RETRY_MS,
  type FailedCanaries,
  failedCanaries,
  failedCanariesText,
} from '../../core/disruption/canary.ts';
import { hasProvenImage } from '../../core/disruption/image-state.ts';
import { type Reason, reason, sentence } from '../../core/explain/reason.ts';
import { conditionOf } from '../../core/lifecycle/conditions.ts';
import { FAILED_CANARIES } from '../../core/model/labels.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import { attempt } from '../writes/attempt.ts';
import { saying } from '../writes/decisions.ts';
import { poolRef } from '../writes/references.ts';
import { type DisruptPass, poolOf } from './pass.ts';
import { writePoolCondition } from './pool-condition.ts';

/** Informational: whether new states of the pool's nodes could be tried. */
const TYPE = 'CanaryHealthy';

/** What the pool's annotation says, or what this pass has written there since it was read. */
function notesOf({ changes }: DisruptPass, { name, annotations }: NodePool): FailedCanaries {
  return changes.failedCanaries.get(name) ?? failedCanaries(annotations);
}

/** Of all pools, the latest of each: what a class brings to one of them it brings to all. */
export function allFailedCanaries(pass: DisruptPass): FailedCanaries {
  const all = pass.state.objects.nodePools.flatMap((pool) => [...notesOf(pass, pool)]);
  return new Map(all.sort(([, a], [, b]) => a - b));
}

async function writeNotes(
  { ports, changes }: DisruptPass,
  pool: NodePool,
  failed: FailedCanaries,
): Promise<void> {
  changes.failedCanaries.set(pool.name, failed);
  const annotations = { [FAILED_CANARIES]: failedCanariesText(failed) };
  await ports.cluster.patchNodePool(poolRef(pool), { annotations });
}

/** Nothing else gets these states for a while: on the pool, as an event and in the log. */
export async function noteFailedCanary(
  pass: DisruptPass,
  pool: NodePool,
  states: readonly string[],
  cause: Reason,
): Promise<void> {
  const { ports, nowMs } = pass;
  const failed = new Map(notesOf(pass, pool));
  for (const state of states) failed.set(state, nowMs);
  await writeNotes(pass, pool, failed);
  const until = new Date(nowMs + CANARY_RETRY_MS).toISOString();
  const proven = hasProvenImage(states) ? 'yes' : '';
  const why = reason('canary-failed', { states, until, proven, cause: sentence(cause) });
  const said = { reason: 'CanaryFailed', ...saying(why) };
  const { reason: type, message } = said;
  await writePoolCondition(pass, pool, { type: TYPE, status: 'False', reason: type, message });
  await ports.cluster.event({ regarding: poolRef(pool), type: 'Warning', ...said });
  pass.outcome.failures.push({ object: `NodePool/${pool.name}`, message: `${type}: ${message}` });
}

/** Whether some node is to have the state which none has that is ready. */
function isAsked({ driftResults, proven }: DisruptPass): (state: string) => boolean {
  const all = [...driftResults.values()];
  const wanted = new Set(all.flatMap(({ drifts }) => drifts.flatMap(({ state }) => state ?? [])));
  const isAllKnown = all.every(({ target }) => target.nodeClass !== undefined);
  return (state) => !proven.has(state) && (wanted.has(state) || !isAllKnown);
}

/**
 * Canaries that failed, each noted once. Before anything is done about them: what comes after a
 * crash must not try the same with another node.
 */
export async function noteCanaries(pass: DisruptPass): Promise<void> {
  const { canaries, outcome } = pass;
  const isWanted = isAsked(pass);
  for (const { claim, states, trial } of canaries) {
    const pool = poolOf(pass, claim);
    if (trial.kind !== 'failed' || pool === undefined) continue;
    const known = allFailedCanaries(pass);
    const news = states.filter(
      (each) => isWanted(each) && (known.get(each) ?? 0) < claim.createdAtMs,
    );
    if (news.length === 0) continue;
    const note = () => noteFailedCanary(pass, pool, news, trial.why);
    outcome.failures.push(...(await attempt(`NodePool/${pool.name}`, note)));
  }
  await noteEndedCanaries(pass, isWanted);
}

/** Canaries that ended while they booted: their claims have gone before a pass could see them. */
async function noteEndedCanaries(
  pass: DisruptPass,
  isWanted: (state: string) => boolean,
): Promise<void> {
  const { ports, state, nowMs, outcome } = pass;
  const failed = await ports.memory.failedRegistrations();
  for (const pool of state.objects.nodePools) {
    const known = allFailedCanaries(pass);
    const tried = [...(failed.get(pool.name)?.tried ?? [])].filter(
      ([each, atMs]) => nowMs - atMs < CANARY_RETRY_MS && (known.get(each) ?? 0) < atMs,
    );
    const news = tried.map(([each]) => each).filter(isWanted);
    if (news.length === 0) continue;
    const why = reason('instance-terminated-early', { cause: '' });
    const note = () => noteFailedCanary(pass, pool, news.toSorted(), why);
    outcome.failures.push(...(await attempt(`NodePool/${pool.name}`, note)));
  }
}

/**
 * Forgets failures of states that some node has by now, or that nothing asks for any more. What a
 * class asks for that is not ready nobody knows: meanwhile nothing is taken as not asked for.
 */
export async function forgetCanaries(pass: DisruptPass): Promise<void> {
  const { state, outcome } = pass;
  const isKept = isAsked(pass);
  for (const pool of state.objects.nodePools) {
    const failed = notesOf(pass, pool);
    const kept = new Map([...failed].filter(([each]) => isKept(each)));
    const isOpen = conditionOf(pool, TYPE)?.status === 'False';
    if (kept.size === failed.size && (kept.size > 0 || !isOpen)) continue;
    const forget = async (): Promise<void> => {
      await writeNotes(pass, pool, kept);
      if (kept.size > 0) return;
      await writePoolCondition(pass, pool, {
        type: TYPE,
        status: 'True',
        reason: TYPE,
        message: '',
      });
    };
    outcome.failures.push(...(await attempt(`NodePool/${pool.name}`, forget)));
  }
}
