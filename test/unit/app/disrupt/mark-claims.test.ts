import { describe, expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { BlockedEvents } from '../../../../shared/app/disrupt/events.ts';
import { markClaims } from '../../../../shared/app/disrupt/mark-claims.ts';
import { newOutcome, noChanges } from '../../../../shared/app/disrupt/pass.ts';
import { WRITES_AT_ONCE } from '../../../../shared/app/writes/at-once.ts';
import type { WriteLeases } from '../../../../shared/app/writes/write-leases.ts';
import { type ClusterState, PortError } from '../../../../shared/ports.ts';
import { claimOf } from '../../../builders/scheduling.ts';
import { clockOf, runningWorld, spread, withPorts } from '../world.ts';

const SECOND = 1000;
const HOUR = 3_600_000;

/** Names of the claims that were written where each write takes so long; `refused` fails. */
async function written(count: number, writeMs: number, refused = '') {
  const { ports } = await runningWorld([spread('web', 1)]);
  let nowMs = ports.clock.nowMs();
  const clocked = withPorts(ports, { clock: clockOf(() => nowMs) });
  const outcome = newOutcome(new BlockedEvents(ports, 20));
  const pass = { ports: clocked, outcome, changes: noChanges() };
  const claims = Array.from({ length: count }, (_, at) => {
    const claim = claimOf(`c-${at}`);
    return { claim: { ...claim, uid: claim.name } };
  });
  const names: string[] = [];
  await markClaims(pass, claims, async ({ claim }) => {
    nowMs += writeMs;
    if (claim.name === refused) throw new PortError('unknown', '503', 'unavailable');
    names.push(claim.name);
  });
  return { names, failures: outcome.failures, unmarked: [...pass.changes.unmarked] };
}

describe('claims that are marked', () => {
  it('are all of them where that is quick', async () => {
    const { names, unmarked } = await written(100, 1);
    expect(names).toHaveLength(100);
    expect(unmarked).toEqual([]);
  });

  it('are the first ones where it takes long: the Lease is let go in time', async () => {
    const { names, unmarked } = await written(5, SECOND / 2);
    expect(names).toEqual(['c-0', 'c-1']);
    expect(unmarked).toEqual(['c-2', 'c-3', 'c-4']);
  });

  it('go on after one that is refused, which is told', async () => {
    const { names, failures } = await written(3, 1, 'c-1');
    expect(names).toEqual(['c-0', 'c-2']);
    expect(failures).toEqual([{ object: 'NodeClaim/c-1', message: '503: unavailable' }]);
  });
});

/** None of the nodes may be consolidated any more. */
function withConsolidateAfter(state: ClusterState, consolidateAfter: number): ClusterState {
  const nodePools = state.objects.nodePools.map((pool) => {
    return { ...pool, disruption: { ...pool.disruption, consolidateAfter } };
  });
  return { ...state, objects: { ...state.objects, nodePools } };
}

/**
 * Claims whose marks are written in each turn of a pass where a write takes a second, and somebody
 * comes for the Lease in turn `wanted`.
 */
async function turnsOf(wanted = Number.POSITIVE_INFINITY) {
  const { ports, settings } = await runningWorld([spread('web', WRITES_AT_ONCE + 4)]);
  const turns: string[][] = [];
  let nowMs = ports.clock.nowMs() + 60 * SECOND;
  const slow = withPorts(ports, {
    clock: clockOf(() => nowMs),
    cluster: {
      read: async () => withConsolidateAfter(await ports.cluster.read(), HOUR),
      patchNodeClaimStatus: async (claim, patch) => {
        nowMs += SECOND;
        turns.at(-1)?.push(claim.name);
        return await ports.cluster.patchNodeClaimStatus(claim, patch);
      },
    },
  });
  const leases: WriteLeases = {
    withLease: async (_, work) => {
      turns.push([]);
      const at = turns.length;
      return { result: await work(slow), isWoken: at === wanted };
    },
  };
  const { isWoken } = await disrupt(slow, settings, {}, leases);
  return { turns: turns.map((names) => names.length), all: new Set(turns.flat()).size, isWoken };
}

describe('a pass that has more to mark than it has time for', () => {
  it('lets the Lease go and takes it again, until all claims are marked', async () => {
    const { turns, all, isWoken } = await turnsOf();
    expect({ all, isWoken }).toEqual({ all: WRITES_AT_ONCE + 4, isWoken: false });
    expect(Math.max(...turns)).toBe(WRITES_AT_ONCE);
  });

  it('leaves the rest to the next where somebody wants the Lease', async () => {
    const { turns, all, isWoken } = await turnsOf(1);
    expect(isWoken).toBe(true);
    expect(turns).toHaveLength(1);
    expect(all).toBe(WRITES_AT_ONCE);
  });
});
