import { describe, expect, it } from 'vitest';
import { admissionWorld } from './admission-worlds.ts';

/** `JOINER_SIM_WORLDS=1000` plays as many; each takes a quarter of a second. */
const WORLDS = Number(process.env['JOINER_SIM_WORLDS'] ?? 60);
const FIRST = Number(process.env['JOINER_SIM_SEED'] ?? 1);
const BATCH = 20;

describe('clusters whose admission changes pods and nodes', () => {
  const batches = Array.from({ length: Math.ceil(WORLDS / BATCH) }, (_, at) => FIRST + at * BATCH);
  it.each(batches)(
    'launch at most three nodes for a pod, and then say why it waits: from seed %i',
    async (first) => {
      for (let seed = first; seed < Math.min(first + BATCH, FIRST + WORLDS); seed += 1) {
        const { launchesPerPod, launchesMax, launched, launchedMax, unexplained, faults } =
          await admissionWorld(seed);
        const told = { seed, faults, launched, launchesPerPod, unexplained };
        expect(launched, JSON.stringify(told)).toBeLessThanOrEqual(launchedMax);
        expect(launchesPerPod, JSON.stringify(told)).toBeLessThanOrEqual(launchesMax);
        expect(unexplained, JSON.stringify(told)).toEqual([]);
      }
    },
    300_000,
  );
});
