import { describe, expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { isTrue } from '../../../../shared/core/lifecycle/conditions.ts';
import { PODS_HASH } from '../../../../shared/core/model/labels.ts';
import type { ClusterState, Ports } from '../../../../shared/ports.ts';
import { clockOf, MINUTE, runningWorld, settings, spread, withPorts } from '../world.ts';

const CONSOLIDATE_AFTER = 10 * MINUTE;

/** The state with a long consolidateAfter and perhaps without pods. */
function seen(state: ClusterState, hasPods: boolean): ClusterState {
  const { nodePools, pods } = state.objects;
  const disruption = { consolidateAfter: CONSOLIDATE_AFTER };
  return {
    ...state,
    objects: {
      ...state.objects,
      nodePools: nodePools.map((pool) => ({
        ...pool,
        disruption: { ...pool.disruption, ...disruption },
      })),
      pods: hasPods ? pods : [],
    },
  };
}

/** Passes over one cluster, each so long after the world’s last moment. */
function passes(ports: Ports) {
  const startMs = ports.clock.nowMs();
  return async (afterMs: number, hasPods: boolean, refused = '') => {
    const writes: string[] = [];
    const watched =
      <Name extends 'patchNodeClaim' | 'patchNodeClaimStatus'>(name: Name) =>
      async (...args: Parameters<Ports['cluster'][Name]>) => {
        writes.push(name);
        if (name === refused) throw new Error('the process ends');
        return await Reflect.apply(ports.cluster[name], ports.cluster, args);
      };
    const own = withPorts(ports, {
      clock: clockOf(() => startMs + afterMs),
      cluster: {
        read: async () => seen(await ports.cluster.read(), hasPods),
        patchNodeClaim: watched('patchNodeClaim'),
        patchNodeClaimStatus: watched('patchNodeClaimStatus'),
      },
    });
    await disrupt(own, settings).catch(() => undefined);
    const [claim] = (await ports.cluster.read()).objects.nodeClaims;
    const eventAtMs = claim?.lastPodEventAtMs;
    return {
      writes,
      eventAfterMs: eventAtMs === undefined ? undefined : eventAtMs - startMs,
      isConsolidatable: claim !== undefined && isTrue(claim, 'Consolidatable'),
      hash: claim?.annotations[PODS_HASH],
    };
  };
}

const both = ['patchNodeClaimStatus', 'patchNodeClaim'];

describe('what a pass says of the pods of a node', () => {
  it('is written once for each change, and the condition when the time has come', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const pass = passes(ports);
    expect((await pass(MINUTE, true)).isConsolidatable).toBe(false);
    expect((await pass(2 * MINUTE, true)).writes).toEqual([]);
    const gone = await pass(3 * MINUTE, false);
    expect(gone).toMatchObject({ writes: both, eventAfterMs: 3 * MINUTE, isConsolidatable: false });
    expect((await pass(4 * MINUTE, false)).writes).toEqual([]);
    const early = await pass(3 * MINUTE + CONSOLIDATE_AFTER - 1000, false);
    expect(early).toMatchObject({ writes: [], isConsolidatable: false });
  });

  it('is written at most every ten seconds', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const pass = passes(ports);
    const { hash } = await pass(MINUTE, false);
    expect((await pass(MINUTE + 9_000, true)).writes).toEqual([]);
    const later = await pass(MINUTE + 10_000, true);
    expect(later.writes).toEqual(both);
    expect(later.hash).not.toBe(hash);
    expect(later.eventAfterMs).toBe(MINUTE + 10_000);
  });

  it.each(both)('is said by the next pass where %s was refused', async (refused) => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const pass = passes(ports);
    await pass(MINUTE, true);
    await pass(2 * MINUTE, false, refused);
    const next = await pass(3 * MINUTE, false);
    expect(next.eventAfterMs).toBe(3 * MINUTE);
    expect((await pass(4 * MINUTE, false)).writes).toEqual([]);
  });
});
