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

/** Reads the folder of a scenario. */
async function simulationOf(name: string, example: string | undefined, region: string) {
  const own = join(here, name, 'manifests');
  const manifests = loadObjects([example === undefined ? own : join(examples, example)], region);
  const settings = join(here, name, 'settings.yaml');
  const stack = existsSync(settings) ? { stack: readSettings(settings) } : {};
  const scenario = scenarioOf(name);
  const catalog = await loadCatalog(region);
  return await prepareSimulation({ catalog, seed: 1, manifests, scenario, ...stack });
}

/** Runs a quarter of an hour, and compares what people read. */
async function expectRun(
  name: string,
  simulation: Awaited<ReturnType<typeof simulationOf>>,
): Promise<void> {
  const state = await runUntil(simulation, 15 * 60_000);
  const text = renderFinalState(state, {
    source: simulation.source,
    pods: podCounts(simulation.world),
    verbose: true,
  });
  await expect(text).toMatchFileSnapshot(join(here, name, 'run.txt'));
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
    await expectRun(name, await simulationOf(name, example, region));
  });

  it('shared-limit-group', async () => {
    const name = 'shared-limit-group';
    const simulation = await simulationOf(name, undefined, 'us-east-1');
    const { ports, timeline } = simulation.world;
    const hold = async (nodes: number): Promise<void> => {
      const known = await ports.groupUsages?.read('batch');
      const green = { used: { nodes }, pending: [], caps: 'nodes=9 shared' };
      const usage = new Map([...(known?.usage ?? []), ['green', green] as const]);
      await ports.groupUsages?.write('batch', usage, known?.version);
    };
    // Another cluster has five of the nodes, and gives up two of them after seven minutes.
    await hold(5);
    timeline.after(7 * 60_000, () => hold(3));
    await expectRun(name, simulation);
    expect((await ports.groupUsages?.read('batch'))?.usage.get('demo')?.used).toEqual({ nodes: 5 });
  });
});
