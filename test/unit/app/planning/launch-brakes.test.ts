import { describe, expect, it } from 'vitest';
import { LaunchPause, launchesLeft } from '../../../../shared/app/planning/launch-brakes.ts';
import type { Condition } from '../../../../shared/core/model/cluster.ts';
import type { ClusterState } from '../../../../shared/ports.ts';
import { claimOf } from '../../../builders/scheduling.ts';
import { settings, waitingWorld, withPorts } from '../world.ts';

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

describe('the pause of launches', () => {
  const pauseIn = (untilMs: number | undefined, nowMs: number) => {
    const pausedUntilMs = untilMs === undefined ? {} : { launch: untilMs };
    return async () => {
      const { ports } = await waitingWorld([]);
      const clock = { ...ports.clock, nowMs: () => nowMs };
      return new LaunchPause(withPorts(ports, { clock }), { pausedUntilMs }, nowMs).isOn();
    };
  };

  it.each<[string, number | undefined, boolean]>([
    ['is off where nobody paused', undefined, false],
    ['is on until its time', NOW + 1, true],
    ['is off from its time on', NOW, false],
  ])('%s', async (_, untilMs, isOn) => {
    expect(await pauseIn(untilMs, NOW)()).toBe(isOn);
  });

  it('that begins during a pass holds what the pass has still to launch', async () => {
    const { ports } = await waitingWorld([]);
    let nowMs = NOW;
    let pausedUntilMs: ClusterState['pausedUntilMs'] = {};
    const clock = { ...ports.clock, nowMs: () => nowMs };
    const cluster = { pausedUntilMs: async () => pausedUntilMs };
    const pause = new LaunchPause(withPorts(ports, { cluster, clock }), { pausedUntilMs }, NOW);
    pausedUntilMs = { launch: NOW + 3_600_000 };
    expect(await pause.isOn()).toBe(false);
    nowMs = NOW + 1_000;
    expect(await pause.isOn()).toBe(true);
  });
});
