import { describe, expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import {
  shiftMessage,
  ZONAL_SHIFT,
  ZONES_USABLE,
} from '../../../../shared/core/disruption/zonal-shift.ts';
import { ZONE } from '../../../../shared/core/model/labels.ts';
import type { ClusterState, Ports } from '../../../../shared/ports.ts';
import { MINUTE, reading, runningWorld, settings, spread, withPorts } from '../world.ts';

/** Every NodeClaim is as old as its `spec.expireAfter`. */
function expired(state: ClusterState): ClusterState {
  const nodeClaims = state.objects.nodeClaims.map((claim) => ({ ...claim, expireAfter: MINUTE }));
  return { ...state, objects: { ...state.objects, nodeClaims } };
}

/** ARC shifts the cluster away from these zones. */
function shifted(zonesOf: (own: readonly string[]) => readonly string[]) {
  return (state: ClusterState): ClusterState => {
    const own = state.objects.nodeClaims.map(({ labels }) => labels[ZONE] ?? '');
    const away = zonesOf(own).map((zone) => ({ zone, zoneId: 'use1-az1' }));
    const condition = {
      type: ZONES_USABLE,
      status: 'False' as const,
      reason: ZONAL_SHIFT,
      message: shiftMessage(away),
      lastTransitionAtMs: 0,
    };
    const nodePools = state.objects.nodePools.map((pool) => ({
      ...pool,
      conditions: [...pool.conditions, condition],
    }));
    return { ...state, objects: { ...state.objects, nodePools } };
  };
}

async function deletedOf(change: (state: ClusterState) => ClusterState): Promise<number> {
  const world = await runningWorld([spread('web', 3)]);
  const deleted: string[] = [];
  const remove: Ports['cluster']['delete'] = async ({ name }) => {
    deleted.push(name);
    return 'done';
  };
  const read = reading(world.ports, (state) => change(expired(state)));
  await lifecycle(withPorts(world.ports, { cluster: { read, delete: remove } }), settings);
  return deleted.length;
}

const until = Number.POSITIVE_INFINITY;

describe('expired nodes', () => {
  it.each<[string, (state: ClusterState) => ClusterState, number]>([
    ['go', (state) => state, 3],
    [
      'stay while disruptions are paused',
      (state) => ({ ...state, pausedUntilMs: { disrupt: until } }),
      0,
    ],
    [
      'stay while launches are paused',
      (state) => ({ ...state, pausedUntilMs: { launch: until } }),
      0,
    ],
    [
      'go while only terminations are paused',
      (state) => ({ ...state, pausedUntilMs: { terminate: until } }),
      3,
    ],
    ['stay while their zone is shifted away', shifted((own) => own), 0],
    ['go while another zone is', shifted(() => ['us-east-1x']), 3],
  ])('%s', async (_, change, count) => {
    expect(await deletedOf(change)).toBe(count);
  });
});
