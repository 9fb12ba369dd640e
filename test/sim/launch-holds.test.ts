import { describe, expect, it } from 'vitest';
import { objectAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const SECOND = 1000;
/** Two or three pods of one owner may wait in vain for the blink of an eye. */
const HELD_MS_MAX = 10 * SECOND;

/**
 * A worker that comes and goes with its queue, on nodes of its own that go as soon as they are
 * empty: it often comes back while the last node is on its way out. For how long it was held, ms.
 */
async function heldMs(upS: number, downS: number): Promise<number> {
  const disruption = {
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: '0s',
  };
  const pool = nodePool(['on-demand'], { disruption });
  const { world } = await smallWorld([nodeClass, pool, deployment('web', 0, '6')], { seed: 7 });
  const scale = (replicas: number): void => {
    for (const each of world.store.list('Deployment')) {
      world.store.update(each, (now) => ({ ...now, spec: { ...objectAt(now, 'spec'), replicas } }));
    }
  };
  for (let atS = 10; atS < 1200; atS += upS + downS) {
    world.timeline.after(atS * SECOND, () => scale(1));
    world.timeline.after((atS + upS) * SECOND, () => scale(0));
  }
  world.timeline.after(1300 * SECOND, () => scale(1));
  let sinceMs: number | undefined;
  let longestMs = 0;
  world.afterEachStep(() => {
    const nowMs = world.timeline.nowMs();
    const isHeld = [...world.unplaced.values()].some((why) => why.includes('launched for it or'));
    sinceMs = isHeld ? (sinceMs ?? nowMs) : undefined;
    longestMs = Math.max(longestMs, nowMs - (sinceMs ?? nowMs));
  });
  await world.run(WORLD_START_MS + 1800 * SECOND);
  return longestMs;
}

describe('a worker that is scaled to zero and back', () => {
  it.each([
    [20, 45],
    [45, 15],
    [45, 45],
    [45, 75],
  ])('is not held: there for %i s, away for %i s', async (upS, downS) => {
    expect(await heldMs(upS, downS)).toBeLessThan(HELD_MS_MAX);
  });
});
