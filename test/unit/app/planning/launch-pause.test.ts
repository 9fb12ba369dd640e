import { describe, expect, it } from 'vitest';
import { LaunchPause } from '../../../../shared/app/planning/launch-pause.ts';
import type { ClusterState } from '../../../../shared/ports.ts';
import { waitingWorld, withPorts } from '../world.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

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
