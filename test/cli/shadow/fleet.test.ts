import { describe, expect, it } from 'vitest';
import { shadowReport } from '../../../cli/shadow/report.ts';
import type { Observation } from '../../../shared/api/observation.ts';
import { machine, node, observation, removal } from './made.ts';

/** A node of $1 an hour, which plans remove in these minutes of an hour, with its pods or without. */
function removedIn(isRemoved: (minute: number) => boolean, change: Partial<Observation> = {}) {
  return Array.from({ length: 60 }, (_, minute) => {
    const idle = isRemoved(minute);
    const only = { ...removal, usdPerHour: 1, pods: 0 };
    return observation(minute, {
      nodes: [node('old', 1, { pods: idle ? 0 : 4 })],
      removals: idle ? [only] : [],
      usdPerHour: { now: 1, after: idle ? 0 : 1 },
      ...(idle ? change : {}),
    });
  });
}

describe('a node that a plan removes', () => {
  it('and that has pods again a minute later saves nothing, and comes back by launches', () => {
    const { figures, launches } = shadowReport(removedIn((minute) => minute % 2 === 1));
    expect(figures.karpenter.meanUsdPerHour).toBe(1);
    expect(figures.joiner).toEqual({
      nodesLaunched: 29,
      launchedUsdPerHour: 29,
      nodesRemoved: 30,
      removedUsdPerHour: 30,
      evictions: 0,
      meanUsdPerHour: 1,
      pendingSeconds: 29 * 4 * 60,
    });
    expect(launches[0]).toMatchObject({ by: 'joiner', returned: 'old', instanceType: 'm6i.large' });
  });

  it('is not paid for once its removal has held, and its return is a launch', () => {
    const { figures, timeline } = shadowReport(removedIn((minute) => minute >= 10 && minute < 30));
    // Held from minute 15 to 30, less the minute in which the node starts again.
    expect(figures.joiner.meanUsdPerHour).toBeCloseTo((59 - 15 + 1) / 59, 10);
    expect(figures.joiner).toMatchObject({ nodesLaunched: 1, nodesRemoved: 1 });
    expect(timeline.map(({ at, joiner: { nodes } }) => [at.slice(14, 16), nodes])).toEqual([
      ...[
        ['00', 1],
        ['15', 0],
        ['30', 1],
        ['31', 1],
        ['59', 1],
      ],
    ]);
  });

  it('is never cheaper than the plan of each moment says, nor free', () => {
    for (const period of [2, 4, 8, 16, 24]) {
      const all = removedIn((minute) => minute % period >= period / 2);
      const seconds = all.slice(0, -1).map(({ usdPerHour: { after } }) => after);
      const planned = seconds.reduce((a, b) => a + b) / seconds.length;
      const { joiner } = shadowReport(all).figures;
      expect(joiner.meanUsdPerHour).toBeGreaterThan(planned);
      expect(joiner.meanUsdPerHour).toBeLessThanOrEqual(1);
    }
  });

  it('is paid for where nobody looked, and its removal has to hold anew', () => {
    const all = removedIn((minute) => minute >= 5).filter((_, at) => at < 20 || at >= 50);
    const { figures, notes } = shadowReport(all);
    // Not paid for from minute 10 to 19, and from 55 on.
    expect(figures.joiner.meanUsdPerHour).toBeCloseTo((59 - 9 - 4) / 59, 10);
    expect(notes).toEqual([expect.stringContaining('and no node as removed by Joiner')]);
  });

  it('is no return where Karpenter removes it, too', () => {
    const all = removedIn(() => true).map((each, at) =>
      at < 30
        ? each
        : { ...each, removals: [], nodes: at > 40 ? [] : [node('old', 1, { isLeaving: true })] },
    );
    expect(shadowReport(all).figures.joiner).toMatchObject({ nodesLaunched: 0, nodesRemoved: 1 });
  });

  it('is replaced at the price of what replaces it, and at none where that is not known', () => {
    const instead = { ...machine('m7g.large', 0.6), pods: [], replaces: ['old'] };
    const replaces = { ...removal, action: 'replace', usdPerHour: 1 } as const;
    const all = (launches: Observation['launches']) =>
      shadowReport(removedIn((minute) => minute >= 4, { launches, removals: [replaces] }));
    const { joiner } = all([instead]).figures;
    // From minute 9 on at 0.6, with a minute more for its launch.
    expect(joiner.meanUsdPerHour).toBeCloseTo((59 - 50 * 0.4 + 0.6) / 59, 10);
    expect(joiner).toMatchObject({ nodesLaunched: 1, nodesRemoved: 1 });
    expect(all([{ ...instead, usdPerHour: null }]).figures.joiner.meanUsdPerHour).toBe(1);
    expect(all([]).figures.joiner.meanUsdPerHour).toBe(1);
  });
});
