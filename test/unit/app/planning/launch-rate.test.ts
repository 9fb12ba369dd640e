import { describe, expect, it } from 'vitest';
import { launchesLeft } from '../../../../shared/app/planning/launch-rate.ts';
import type { Condition } from '../../../../shared/core/model/cluster.ts';
import type { ClusterState } from '../../../../shared/ports.ts';
import { claimOf } from '../../../builders/scheduling.ts';
import { settings, waitingWorld } from '../world.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

function launched(secondsAgo: number, status: Condition['status'] = 'True'): Condition {
  const lastTransitionAtMs = NOW - secondsAgo * 1000;
  return { type: 'Launched', status, reason: 'Launched', message: '', lastTransitionAtMs };
}

async function stateOf(conditions: readonly Condition[]): Promise<ClusterState> {
  const { ports } = await waitingWorld([]);
  const state = await ports.cluster.read();
  const nodeClaims = conditions.map((each, at) => claimOf(`c${at}`, { conditions: [each] }));
  return { ...state, objects: { ...state.objects, nodeClaims } };
}

describe('the cap on launches', () => {
  it.each<[string, readonly Condition[], number]>([
    ['leaves all where nothing was launched', [], 3],
    ['counts the launch of a moment ago', [launched(0)], 2],
    ['counts a launch for a minute', [launched(59.999)], 2],
    ['and no longer', [launched(60), launched(61), launched(3599)], 3],
    ['counts each NodeClaim', [launched(1), launched(30)], 1],
    ['counts no launch that did not succeed', [launched(1, 'Unknown'), launched(2, 'False')], 3],
    ['counts no other condition', [{ ...launched(1), type: 'Registered' }], 3],
    ['never leaves less than none', [1, 2, 3, 4, 5].map((ago) => launched(ago)), 0],
  ])('%s', async (_, conditions, left) => {
    const capped = { ...settings, launchesPerMinuteMax: 3 };
    expect(launchesLeft(await stateOf(conditions), capped, NOW)).toBe(left);
  });
});
