import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadObjects } from '../../cli/simulate/load.ts';
import { podCounts } from '../../cli/simulate/pod-counts.ts';
import { renderFinalState } from '../../cli/simulate/render.ts';
import { prepareSimulation, runUntil } from '../../cli/simulate/run.ts';
import { readSettings } from '../../cli/simulate/settings-file.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { decodeScenario, type Scenario } from '../../shared/sim/scenario.ts';

const here = import.meta.dirname;
const examples = join(here, '..', '..', 'examples');

function scenarioOf(name: string): Scenario | undefined {
  const file = join(here, name, 'scenario.yaml');
  if (!existsSync(file)) return undefined;
  const decoded = decodeScenario(parse(readFileSync(file, 'utf8')));
  if (decoded.ok) return decoded.value;
  throw new Error(decoded.issues.map((each) => `${each.path} ${each.message}`).join('; '));
}

/** Whole runs as people read them; `npx vitest run --project scenarios -u` writes them anew. */
describe('scenarios', () => {
  it.each([
    ['prefer-graviton4', '01-prefer-graviton4', 'eu-west-1'],
    ['gpu-slices', '02-gpu-slices', 'eu-west-1'],
    ['spot-interruption', '07-spread-and-spot', 'us-east-1'],
    ['limit-groups', undefined, 'us-east-1'],
    ['pause-windows', undefined, 'us-east-1'],
    ['return-to-first-choice', undefined, 'us-east-1'],
    ['rollout-drain', undefined, 'us-east-1'],
  ])('%s', async (name, example, region) => {
    const own = join(here, name, 'manifests');
    const manifests = loadObjects([example === undefined ? own : join(examples, example)], region);
    const settings = join(here, name, 'settings.yaml');
    const stack = existsSync(settings) ? { stack: readSettings(settings) } : {};
    const scenario = scenarioOf(name);
    const catalog = await loadCatalog(region);
    const simulation = await prepareSimulation({ catalog, seed: 1, manifests, scenario, ...stack });
    const state = await runUntil(simulation, 15 * 60_000);
    const text = renderFinalState(state, {
      source: simulation.source,
      pods: podCounts(simulation.world),
      verbose: true,
    });
    await expect(text).toMatchFileSnapshot(join(here, name, 'run.txt'));
  });
});
