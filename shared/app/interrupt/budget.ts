import { grantUnconfirmed, recentUnconfirmed } from '../../core/interruption/unconfirmed.ts';
import { notedTimesText } from '../../core/model/annotations/noted-times.ts';
import { NODE_POOL, UNCONFIRMED } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { PortError } from '../../ports.ts';
import { KarpenterActive } from '../writes/karpenter-lease.ts';
import { type InterruptPass, type MatchedMessage, poolNameOf } from './messages.ts';

/** At most five batches are handled at once, and other functions write the pool now and then. */
const TRIES_MAX = 10;

type Names = ReadonlySet<string>;

/** What may go unconfirmed. */
export interface Budget {
  /** Claims that may be deleted; this is noted on their NodePools already. */
  readonly granted: Names;
  /** By NodePool, why nothing could be noted, so that nothing of it may be deleted. */
  readonly faults: ReadonlyMap<string, unknown>;
}

/**
 * Counts and notes in one: what another invocation has noted meanwhile is a conflict, and then
 * counted too. Undefined: there is no such NodePool.
 */
async function noteOnPool(
  { ports }: InterruptPass,
  pool: string,
  nodes: number,
  wanted: readonly string[],
): Promise<Names | undefined> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const read = await ports.cluster.readNodePoolNotes(pool);
    if (read === undefined) return undefined;
    const { uid, resourceVersion } = read;
    const nowMs = ports.clock.nowMs();
    const before = recentUnconfirmed(read.annotations, nowMs);
    const { granted, noted } = grantUnconfirmed(before, nodes, wanted, nowMs);
    if (noted.size === before.size) return granted;
    const ref = { kind: 'NodePool', name: pool, uid, resourceVersion } as const;
    const annotations = { [UNCONFIRMED]: notedTimesText(noted) };
    if ((await ports.cluster.patchNodePool(ref, { annotations })) === 'done') return granted;
  }
  throw new PortError('unknown', 'Conflict', `NodePool ${pool} was changed by others all the time`);
}

/**
 * Claims without a NodePool, or of one that was deleted and left them, have nothing to note it on:
 * those that are leaving are counted.
 */
function grantAmong(
  { ports }: InterruptPass,
  claims: readonly NodeClaim[],
  wanted: readonly string[],
): Names {
  const leaving = claims.flatMap(({ name, deletedAtMs }) =>
    deletedAtMs === undefined ? [] : [[name, deletedAtMs] as const],
  );
  return grantUnconfirmed(new Map(leaving), claims.length, wanted, ports.clock.nowMs()).granted;
}

/** Spends of each NodePool's budget for what nothing confirms, before anything is deleted. */
export async function throttleUnconfirmed(
  pass: InterruptPass,
  hits: readonly MatchedMessage[],
): Promise<Budget> {
  const granted = new Set<string>();
  const faults = new Map<string, unknown>();
  for (const pool of new Set(hits.map(poolNameOf))) {
    const mine = hits.filter((hit) => poolNameOf(hit) === pool);
    const wanted = [...new Set(mine.map(({ claim }) => claim.name))];
    const claims = pass.state.nodeClaims.filter(({ labels }) => (labels[NODE_POOL] ?? '') === pool);
    try {
      const noted = pool === '' ? undefined : await noteOnPool(pass, pool, claims.length, wanted);
      const names = noted ?? grantAmong(pass, claims, wanted);
      for (const name of names) granted.add(name);
    } catch (error) {
      if (error instanceof KarpenterActive) throw error;
      faults.set(pool, error);
    }
  }
  return { granted, faults };
}
