import { describe, expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { brokenSpread, budgetWatch, violations } from './invariants.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
const ZONE = 'topology.kubernetes.io/zone';

async function run(
  manifests: readonly Json[],
  minutes: number,
  steps: Scenario['steps'],
  more: (world: World) => () => readonly string[] = () => () => [],
): Promise<{ readonly world: World; readonly broken: readonly string[] }> {
  const scenario = steps.length === 0 ? {} : { scenario: { steps } };
  const { world } = await smallWorld(manifests, scenario);
  const broken = new Set<string>();
  const check = more(world);
  world.afterEachStep(() => {
    for (const each of [...violations(world), ...check()]) broken.add(each);
  });
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return { world, broken: [...broken] };
}

function running(world: World): number {
  return readState(world.store).objects.pods.filter((pod) => pod.phase === 'Running').length;
}

function tainted(pool: Json): Json {
  const copy = structuredClone(pool) as { spec: { template: { spec: Record<string, unknown> } } };
  copy.spec.template.spec['taints'] = [{ key: 'team', value: 'web', effect: 'NoSchedule' }];
  return copy as unknown as Json;
}

const tolerations = [{ key: 'team', operator: 'Equal', value: 'web', effect: 'NoSchedule' }];
const selector = { matchLabels: { app: 'web' } };
/** Over all three zones, also those that have no node yet. */
const spread = (maxSkew: number): Json => ({
  topologySpreadConstraints: [
    {
      topologyKey: ZONE,
      maxSkew,
      minDomains: 3,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: selector,
    },
  ],
});
const apart: Json = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: selector },
      ],
    },
  },
};
const scale = (at: number, replicas: number): Scenario['steps'][number] => ({
  at,
  scale: { kind: 'Deployment', name: 'web', namespace: 'default', replicas },
});

describe('rules that hold at every moment', () => {
  it('limits of a NodePool, also while workloads grow beyond them', async () => {
    const pool = nodePool(['on-demand'], { limits: { cpu: '8' } });
    const steps = [scale(2 * MINUTE, 6), scale(4 * MINUTE, 30)];
    const { world, broken } = await run([nodeClass, pool, deployment('web', 2, '1')], 8, steps);
    expect(broken).toEqual([]);
    expect(running(world)).toBeGreaterThan(3);
    expect(running(world)).toBeLessThan(8);
  });

  it('taints: who does not tolerate them stays pending', async () => {
    const manifests = [
      nodeClass,
      tainted(nodePool(['on-demand'])),
      deployment('web', 3, '1', { tolerations }),
      deployment('other', 2, '1'),
    ];
    const { world, broken } = await run(manifests, 4, []);
    expect(broken).toEqual([]);
    expect(running(world)).toBe(3);
  });

  it('anti-affinity, also when a node is interrupted', async () => {
    const manifests = [nodeClass, nodePool(['spot']), deployment('web', 4, '100m', apart)];
    const steps = [{ at: 3 * MINUTE, interrupt: {} }];
    const { world, broken } = await run(manifests, 8, steps);
    expect(broken).toEqual([]);
    expect(running(world)).toBe(4);
    expect(world.compute.machines.size).toBe(4);
  });

  it.each([1, 2])('a spread over zones with a skew of %i, beside an empty node', async (skew) => {
    const inOneZone = { nodeSelector: { [ZONE]: 'us-east-1a' } };
    const manifests = [
      nodeClass,
      nodePool(['on-demand']),
      deployment('before', 6, '1', inOneZone),
      deployment('web', 0, '1', spread(skew)),
    ];
    const gone = { kind: 'Deployment', name: 'before', namespace: 'default' };
    const steps = [{ at: 2 * MINUTE, delete: [gone] }, scale(3 * MINUTE, 5), scale(5 * MINUTE, 8)];
    const { world, broken } = await run(manifests, 8, steps);
    expect(broken).toEqual([]);
    expect(brokenSpread(world)).toEqual([]);
    expect(running(world)).toBe(8);
  });

  it('a budget of pods, while nodes with several of them are taken away', async () => {
    const budget: Json = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 3, selector },
    };
    const manifests = [nodeClass, nodePool(['spot']), deployment('web', 4, '1'), budget];
    const steps = [3, 7, 11].map((at) => ({ at: at * MINUTE, interrupt: {} }));
    const watch = (world: World) => budgetWatch(world, 'web', 3);
    const { world, broken } = await run(manifests, 16, steps, watch);
    expect(broken).toEqual([]);
    expect(world.evictions).toBeGreaterThan(2);
    expect(running(world)).toBe(4);
  });
});
