import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadObjects } from '../../cli/simulate/load.ts';
import { prepareSimulation, runUntil } from '../../cli/simulate/run.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { FinalState } from '../../shared/sim/report.ts';
import type { ScenarioStep } from '../../shared/sim/scenario.ts';

const MINUTE = 60_000;

interface Options {
  readonly region?: string;
  /** Virtual milliseconds. */
  readonly until?: number;
  readonly steps?: readonly ScenarioStep[];
  readonly without?: (object: Json) => boolean;
}

async function outcome(example: string, options: Options = {}): Promise<FinalState> {
  const { region = 'us-east-1', until = 15 * MINUTE, steps = [], without } = options;
  const folder = join(import.meta.dirname, '..', '..', 'examples', example);
  const manifests = loadObjects([folder], region).filter((each) => without?.(each) !== true);
  const scenario = steps.length === 0 ? undefined : { steps: [...steps] };
  const catalog = await loadCatalog(region);
  const simulation = await prepareSimulation({ catalog, seed: 1, manifests, scenario });
  return runUntil(simulation, until);
}

/** Instance types by NodePool, in the order of names. */
function bought({ nodeClaims }: FinalState): Readonly<Record<string, readonly string[]>> {
  const byPool = Map.groupBy(nodeClaims, (each) => each.nodePool ?? '');
  return Object.fromEntries(
    [...byPool].map(([pool, list]) => [pool, list.map((each) => each.instanceType ?? '').sort()]),
  );
}

function scaled(at: number, name: string, replicas: number): ScenarioStep {
  return { at, scale: { kind: 'Deployment', name, namespace: 'default', replicas } };
}

const isOverlay = (object: Json): boolean => object['kind'] === 'NodeOverlay';

/** Pods of the pool's nodes whose names begin so. */
function podsOf({ nodeClaims }: FinalState, pool: string, prefix: string): number {
  return nodeClaims
    .filter((each) => each.nodePool === pool)
    .flatMap((each) => each.pods)
    .filter((pod) => pod.startsWith(`default/${prefix}`)).length;
}

describe('each example does what its README says', () => {
  it('01: the overlay turns a c7g.xlarge into a c8g.xlarge, at its list price', async () => {
    const region = 'eu-west-1';
    const plain = await outcome('01-prefer-graviton4', { region, without: isOverlay });
    expect(bought(plain)).toEqual({ default: ['c7g.xlarge'] });
    expect(plain.totals.pricePerHour).toBe(0.155);
    const overlaid = await outcome('01-prefer-graviton4', { region });
    expect(bought(overlaid)).toEqual({ default: ['c8g.xlarge'] });
    expect(overlaid.totals.pricePerHour).toBe(0.17056);
  });

  it.each([
    [4, 1],
    [8, 2],
    [17, 5],
  ])('02: %i slices need %i GPUs', async (slices, gpus) => {
    const steps = [scaled(0, 'inference', slices)];
    const state = await outcome('02-gpu-slices', { region: 'eu-west-1', steps });
    expect(state.pods).toEqual({ running: slices, succeeded: 0, pending: [] });
    const held = state.nodes.map((node) => Number(node.allocatable['nvidia.com/gpu-slice']) / 4);
    const sum = held.reduce((total, each) => total + each, 0);
    expect(sum).toBeGreaterThanOrEqual(gpus);
    expect(sum).toBe(
      state.nodes.reduce((n, at) => n + Number(at.allocatable['nvidia.com/gpu']), 0),
    );
  });

  it('02: four slices need a single g5.xlarge', async () => {
    const state = await outcome('02-gpu-slices', { region: 'eu-west-1' });
    expect(bought(state)).toEqual({ 'gpu-slices': ['g5.xlarge'] });
  });

  it('03: one g4dn.12xlarge carries all thirteen GPU pods; without the overlay four', async () => {
    const state = await outcome('03-eks-guide', { until: 30 * MINUTE });
    expect(bought(state)['gpu']).toEqual(['g4dn.12xlarge']);
    expect(podsOf(state, 'gpu', '')).toBe(13);
    expect(state.totals.launched).toBe(state.nodes.length);
    const gpus = state.nodes.flatMap((node) => node.allocatable['nvidia.com/gpu'] ?? []);
    expect(gpus).toEqual(['40']);
    const plain = await outcome('03-eks-guide', { without: isOverlay });
    expect(bought(plain)['gpu']).toEqual(Array.from({ length: 4 }, () => 'g4dn.12xlarge'));
    expect(plain.pods.pending).toEqual([]);
  });

  it('04: each profile has its own pool, with 7 or 2 instances of each A100', async () => {
    const state = await outcome('04-mig-pools');
    expect(state.pods).toEqual({ running: 24, succeeded: 0, pending: [] });
    expect(podsOf(state, 'mig-1g-10gb', 'small-model')).toBe(20);
    expect(podsOf(state, 'mig-3g-40gb', 'large-model')).toBe(4);
    const slices = (name: string) =>
      state.nodes.flatMap((node) => node.allocatable[`nvidia.com/mig-${name}`] ?? []);
    expect(slices('1g.10gb')).toEqual(['56']);
    expect(slices('3g.40gb')).toEqual(['16']);
  });

  it('05: the cheapest GPU, and the pinned one', async () => {
    const state = await outcome('05-legacy-pools');
    expect(state.pods.pending).toEqual([]);
    const typeOf = (prefix: string) =>
      state.nodeClaims.find(({ pods }) => pods.some((pod) => pod.startsWith(`default/${prefix}`)))
        ?.instanceType;
    expect(typeOf('model-on-a10g')).toBe('g5.xlarge');
    expect(bought(state)['gpu']).toEqual(['g4dn.xlarge', 'g5.xlarge']);
    expect(podsOf(state, 'cpu', 'encoder')).toBe(4);
    expect(podsOf(state, 'memory', 'cache')).toBe(3);
  });

  it('07: twelve pods on spot and three on demand, and again after an interruption', async () => {
    const interruption: ScenarioStep = { at: 5 * MINUTE, interrupt: { nodePool: 'spot' } };
    for (const steps of [[], [interruption]]) {
      const state = await outcome('07-spread-and-spot', { steps });
      expect(state.pods.running).toBe(15);
      expect(podsOf(state, 'spot', '')).toBe(12);
      expect(podsOf(state, 'on-demand', '')).toBe(3);
      expect(state.totals.terminated).toBe(steps.length);
    }
  });

  it('08: two nodes always, and room for two more pods at once', async () => {
    const empty = await outcome('08-static-and-buffer', {
      steps: [scaled(0, 'checkout', 0)],
      without: ({ kind }) => kind === 'CapacityBuffer',
    });
    expect(Object.keys(bought(empty))).toEqual(['base']);
    expect(empty.nodes).toHaveLength(2);
    const steps = [scaled(10 * MINUTE, 'checkout', 10)];
    const state = await outcome('08-static-and-buffer', { steps, until: 10 * MINUTE + 5000 });
    expect(bought(state)['base']).toHaveLength(2);
    expect(state.pods).toEqual({ running: 10, succeeded: 0, pending: [] });
  });
});
