import { describe, expect, it } from 'vitest';
import { disrupt } from '../../shared/app/disrupt/disrupt.ts';
import { sentences } from '../../shared/core/explain/reason.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL } from '../../shared/core/model/labels.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { settings } from '../unit/app/world.ts';
import { claimsOf, entries, MINUTE, runningPods } from './rolls.ts';
import {
  apartOf,
  deployment,
  nodeClass,
  nodePool,
  smallWorld,
  withPodAnnotations,
  withRequirement,
} from './small-world.ts';

const PODS = 4;
const WHEN_EMPTY = { consolidationPolicy: 'WhenEmpty', consolidateAfter: '1m' };

/** The NodePool, which asks for the return of its nodes. */
function asking(pool: Json, terms: string): Json {
  const annotations = { 'joiner.dev/return-to-first-choice': terms };
  return { ...pool, metadata: { ...(pool['metadata'] as Json), annotations } };
}

function named(name: string, weight: number, pool: Json): Json {
  return { ...pool, metadata: { name }, spec: { ...(pool['spec'] as Json), weight } };
}

/** The NodePool with none but large, dear nodes. */
function onlyLarge(pool: Json): Json {
  const large = { key: 'karpenter.k8s.aws/instance-size', operator: 'In', values: ['2xlarge'] };
  return withRequirement(pool, large);
}

/** How many nodes there are by what this label says. */
function countBy(world: World, label: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { labels } of claimsOf(world)) {
    const value = labels[label] ?? '';
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

const noSpot: Scenario['steps'] = [
  { at: 0, unavailable: { capacityType: 'spot', for: 20 * MINUTE } },
];
/** Of a pod's spec. */
const spreadLoosely: Json = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ],
};
const web = deployment('web', PODS, '1', apartOf('web'));

describe('nodes that were launched on demand in a shortage of spot', () => {
  const pool = nodePool(['spot', 'on-demand'], { disruption: WHEN_EMPTY });

  it('stay where the NodePool does not ask for their return', async () => {
    const { world } = await smallWorld([nodeClass, pool, web], { scenario: { steps: noSpot } });
    await world.run(WORLD_START_MS + 90 * MINUTE);
    expect(countBy(world, CAPACITY_TYPE)).toEqual({ 'on-demand': PODS });
  });

  it.each([
    ['nodes=1,after=5m', 1],
    ['nodes=2,after=5m', 2],
  ])('return to spot with %s, %i at once, and all pods run', async (terms, atOnce) => {
    const budgets = [{ nodes: '100%' }];
    const all = nodePool(['spot', 'on-demand'], { disruption: { ...WHEN_EMPTY, budgets } });
    const manifests = [nodeClass, asking(all, terms), web];
    const { world } = await smallWorld(manifests, { scenario: { steps: noSpot } });
    await world.run(WORLD_START_MS + 19 * MINUTE);
    expect(countBy(world, CAPACITY_TYPE)).toEqual({ 'on-demand': PODS });
    let [most, least] = [0, PODS];
    for (let minute = 19; minute < 90; minute += 1) {
      await world.run(WORLD_START_MS + minute * MINUTE);
      most = Math.max(most, claimsOf(world).length - PODS);
      least = Math.min(least, runningPods(world));
    }
    expect(countBy(world, CAPACITY_TYPE)).toEqual({ spot: PODS });
    expect(most).toBe(atOnce);
    expect(least).toBeGreaterThanOrEqual(PODS - atOnce);
    expect(runningPods(world)).toBe(PODS);
    // Those of the beginning, and one for each that returned.
    expect(entries(world, 'ready')).toHaveLength(2 * PODS);
  });

  it('are tried again ever more rarely while spot cannot be had', async () => {
    const steps: Scenario['steps'] = [{ at: 0, unavailable: { capacityType: 'spot' } }];
    const manifests = [nodeClass, asking(pool, 'after=5m'), web];
    const { world } = await smallWorld(manifests, { scenario: { steps } });
    await world.run(WORLD_START_MS + 180 * MINUTE);
    expect(countBy(world, CAPACITY_TYPE)).toEqual({ 'on-demand': PODS });
    expect(entries(world, 'ready')).toHaveLength(PODS);
    const created = entries(world, 'created').length;
    expect(created).toBeGreaterThan(PODS);
    expect(created).toBeLessThanOrEqual(PODS + 10);
    const said = entries(world, 'DisruptionBlocked').map(({ message }) => message);
    expect(said.join('\n')).toContain('its replacement, is gone');
  });
});

describe('nodes of a NodePool that is tried second', () => {
  const disruption = { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '1m' };
  const first = named('first', 50, nodePool(['spot'], { disruption }));
  const second = named('second', 10, nodePool(['on-demand'], { disruption }));
  const terms = 'nodes=1,after=5m';

  it('return to the first, whatever it costs, and stay there', async () => {
    const dear = named('first', 50, nodePool(['on-demand'], { disruption }));
    const steps: Scenario['steps'] = ['c7g', 'm7g', 'c6a', 'm6a'].map((family) => ({
      at: 0,
      unavailable: { instanceType: `${family}.2xlarge`, for: 20 * MINUTE },
    }));
    const manifests = [nodeClass, onlyLarge(dear), asking(second, terms), web];
    const { world } = await smallWorld(manifests, { scenario: { steps } });
    await world.run(WORLD_START_MS + 19 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ second: PODS });
    await world.run(WORLD_START_MS + 90 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ first: PODS });
    const ready = entries(world, 'ready').length;
    expect(ready).toBe(2 * PODS);
    await world.run(WORLD_START_MS + 12 * 60 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ first: PODS });
    expect(entries(world, 'ready')).toHaveLength(ready);
    expect(runningPods(world)).toBe(PODS);
  });

  it('stay, and nothing moves in a circle, where the first has as many as its limits allow', async () => {
    const dear = named('first', 50, nodePool(['on-demand'], { disruption, limits: { cpu: '16' } }));
    const manifests = [nodeClass, onlyLarge(dear), asking(second, terms), web];
    const { world } = await smallWorld(manifests);
    await world.run(WORLD_START_MS + 12 * 60 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ first: 2, second: 2 });
    expect(entries(world, 'created')).toHaveLength(PODS);
  });

  it('stay where their pods can be nowhere else', async () => {
    const own = deployment('own', 2, '1', {
      ...apartOf('own'),
      nodeSelector: { [NODE_POOL]: 'second' },
    });
    const { world } = await smallWorld([nodeClass, first, asking(second, terms), own]);
    await world.run(WORLD_START_MS + 60 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ second: 2 });
    expect(entries(world, 'created')).toHaveLength(2);
  });
});

describe('what consolidation frees in a NodePool that is tried first', () => {
  const disruption = {
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: '1m',
    budgets: [{ nodes: '100%' }],
  };
  const limited = nodePool(['on-demand'], { disruption, limits: { cpu: '8' } });
  const first = named('first', 50, limited);
  const second = named('second', 10, nodePool(['spot'], { disruption }));
  const few: Scenario['steps'][number] = {
    at: 15 * MINUTE,
    scale: { kind: 'Deployment', namespace: 'default', name: 'web', replicas: 8 },
  };

  /** Two nodes of each NodePool with three pods each, four pods fewer from 15 minutes on. */
  async function shrunk(fallbacks: Json, steps: Scenario['steps'] = []): Promise<World> {
    const { world } = await smallWorld(
      [nodeClass, first, fallbacks, deployment('web', 12, '1', spreadLoosely)],
      { types: /^c7g\.xlarge$/, scenario: { steps: [few, ...steps] } },
    );
    await world.run(WORLD_START_MS + 14 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ first: 2, second: 2 });
    return world;
  }

  it('is not what a fallback that took the pods would return to', async () => {
    const world = await shrunk(asking(second, 'nodes=2,after=2m'));
    const kept = claimsOf(world).filter(({ labels }) => labels[NODE_POOL] === 'first');
    await world.run(WORLD_START_MS + 90 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ first: 2, second: 1 });
    const names = claimsOf(world).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(kept.map(({ name }) => name)));
    expect(entries(world, 'ready')).toHaveLength(4);
    expect(runningPods(world)).toBe(8);
  });

  it('goes where the fallback does not return', async () => {
    const world = await shrunk(second);
    await world.run(WORLD_START_MS + 90 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ first: 1, second: 2 });
  });

  it('goes where limits allow no return even then', async () => {
    const lower = { ...(first['spec'] as Json), limits: { cpu: '4' } };
    const steps = [{ at: 15 * MINUTE, apply: [{ ...first, spec: lower } as never] }];
    const world = await shrunk(asking(second, 'nodes=2,after=2m'), steps);
    await world.run(WORLD_START_MS + 90 * MINUTE);
    expect(countBy(world, NODE_POOL)).toEqual({ first: 1, second: 2 });
    expect(entries(world, 'ready')).toHaveLength(4);
  });
});

it('an annotation that cannot be read keeps the nodes, and the NodePool says so', async () => {
  const pool = nodePool(['spot', 'on-demand'], { disruption: WHEN_EMPTY });
  const manifests = [nodeClass, asking(pool, 'nodes=one'), web];
  const { world } = await smallWorld(manifests, { scenario: { steps: noSpot } });
  await world.run(WORLD_START_MS + 60 * MINUTE);
  expect(countBy(world, CAPACITY_TYPE)).toEqual({ 'on-demand': PODS });
  const said = entries(world, 'DisruptionBlocked').map(({ object, message }) => [object, message]);
  expect(said).toContainEqual([
    'NodePool/default',
    'Annotation joiner.dev/return-to-first-choice: "nodes=one" is invalid; example: nodes=1,after=30m',
  ]);
});

it('pods that a restart would send to fallbacks again do not return', async () => {
  const only = (name: string, weight: number, type: string, limits: Json): Json => {
    const typed = { key: INSTANCE_TYPE, operator: 'In', values: [type] };
    return named(name, weight, withRequirement(nodePool(['on-demand'], { limits }), typed));
  };
  const heavy = only('heavy', 50, 'm7g.xlarge', { nodes: '2' });
  const light = asking(only('light', 1, 'c7g.xlarge', {}), 'nodes=1,after=10m');
  const pair = withPodAnnotations(deployment('web', 2, '2500m', apartOf('web')), {
    'joiner.dev/drain': 'rollout',
  });
  const { world } = await smallWorld([nodeClass, heavy, light, pair], {
    types: /^(m7g|c7g)\.xlarge$/,
    scenario: {
      steps: [{ at: 0, unavailable: { instanceType: 'm7g.xlarge', for: 15 * MINUTE } }],
    },
  });
  await world.run(WORLD_START_MS + 3 * 60 * MINUTE);
  // During another restart a third pod would be there, and the first choice has two nodes.
  expect([world.launched, countBy(world, NODE_POOL)]).toEqual([3, { heavy: 1, light: 1 }]);
  const { kept } = await disrupt(world.ports, settings);
  const fallback = claimsOf(world).find(({ labels }) => labels[NODE_POOL] === 'light');
  expect(sentences(kept.get(fallback?.name ?? '') ?? [])).toContain(
    'the first choice has no room for the pods meanwhile',
  );
});
