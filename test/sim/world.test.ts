import { describe, expect, it } from 'vitest';
import { interrupt } from '../../shared/app/interrupt/interrupt.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { finalState } from '../../shared/sim/report.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { violations } from './invariants.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

async function run(
  manifests: readonly Json[],
  minutes: number,
  options: Parameters<typeof smallWorld>[1] = {},
): Promise<World> {
  const { world } = await smallWorld(manifests, options);
  const broken = new Set<string>();
  world.afterEachStep(() => {
    for (const each of violations(world)) broken.add(each);
  });
  await world.run(WORLD_START_MS + minutes * MINUTE);
  expect([...broken]).toEqual([]);
  return world;
}

function phases(world: World): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { phase } of readState(world.store).objects.pods) {
    counts[phase] = (counts[phase] ?? 0) + 1;
  }
  return counts;
}

function story(world: World, ...kinds: readonly string[]): readonly string[] {
  return world.journal.entries
    .filter((each) => kinds.includes(each.kind))
    .map(({ at, kind, message }) => `${Math.floor(at)}s ${kind} ${message}`);
}

const scale = (at: number, replicas: number): Scenario['steps'][number] => ({
  at,
  scale: { kind: 'Deployment', name: 'web', namespace: 'default', replicas },
});

describe('the simulated world', () => {
  const base = [nodeClass, nodePool(['on-demand']), deployment('web', 6, '1')];

  it('gets an empty cluster its nodes, and its pods run', async () => {
    const world = await run(base, 5);
    expect(phases(world)).toEqual({ Running: 6 });
    expect(world.launched).toBeGreaterThan(0);
    expect(world.launched).toBe(world.compute.machines.size);
  });

  it('gives the same bytes for the same seed, and other names for another', async () => {
    const text = async (seed: number): Promise<string> => {
      const steps = [scale(2 * MINUTE, 12), scale(4 * MINUTE, 3)];
      const { world, script } = await smallWorld(base, { seed, scenario: { steps } });
      await world.run(WORLD_START_MS + 6 * MINUTE);
      return JSON.stringify(await finalState(world, '0', seed, script.rejected));
    };
    const [first, again, other] = [await text(1), await text(1), await text(2)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('finds another offering in the same pass when the first has no capacity', async () => {
    const unavailable = { zone: undefined, capacityType: 'on-demand' as const };
    const types = ['c7g.large', 'c7g.xlarge', 'c7g.2xlarge', 'c6a.large', 'c6a.xlarge'];
    const steps = types.map((instanceType) => ({
      at: 0,
      unavailable: { ...unavailable, instanceType },
    }));
    const world = await run(base, 5, { scenario: { steps } });
    expect(phases(world)).toEqual({ Running: 6 });
    expect(
      story(world, 'launched').every((line) => !types.some((type) => line.includes(type))),
    ).toBe(true);
    expect(story(world, 'launched').every((line) => line.startsWith('0s'))).toBe(true);
  });

  it('replaces an interrupted spot node within the two minutes', async () => {
    const manifests = [nodeClass, nodePool(['spot']), deployment('web', 2, '1')];
    const steps = [{ at: 2 * MINUTE, interrupt: {} }];
    const world = await run(manifests, 6, { scenario: { steps } });
    expect(phases(world)).toEqual({ Running: 2 });
    const gone = world.journal.entries.find((each) => each.kind === 'removed');
    expect(gone?.at).toBeLessThan(240);
    expect(world.evictions).toBeGreaterThan(0);
  });

  it('drains no faster than a PodDisruptionBudget allows', async () => {
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
    };
    const manifests = [nodeClass, nodePool(['spot']), deployment('web', 2, '1'), budget];
    const steps = [{ at: 2 * MINUTE, interrupt: {} }];
    const { world } = await smallWorld(manifests, { scenario: { steps } });
    let least = 2;
    world.afterEachStep(() => {
      const isTested = world.timeline.nowMs() < WORLD_START_MS + 3.9 * MINUTE;
      const running = readState(world.store).objects.pods.filter((pod) => pod.ready).length;
      if (isTested && world.timeline.nowMs() > WORLD_START_MS + 2 * MINUTE)
        least = Math.min(least, running);
    });
    await world.run(WORLD_START_MS + 6 * MINUTE);
    expect(least).toBe(2);
    expect(story(world, 'FailedDraining').length).toBeGreaterThan(0);
    expect(phases(world)).toEqual({ Running: 2 });
  });

  it('deleting the NodePool drains and terminates everything', async () => {
    const steps = [
      { at: 2 * MINUTE, delete: [{ kind: 'NodePool', name: 'default', namespace: '' }] },
    ];
    const world = await run(base, 6, { scenario: { steps } });
    expect(phases(world)).toEqual({ Pending: 6 });
    expect(world.compute.machines.size).toBe(0);
    expect(readState(world.store).objects.nodeClaims).toEqual([]);
    expect(readState(world.store).objects.nodes).toEqual([]);
  });

  it('keeps static capacity, up and down', async () => {
    const to = (at: number, replicas: number): Scenario['steps'][number] => ({
      at,
      scale: { kind: 'NodePool', name: 'default', namespace: '', replicas },
    });
    const manifests = [nodeClass, nodePool(['on-demand'], { replicas: 2 })];
    const steps = [to(2 * MINUTE, 4), to(4 * MINUTE, 1)];
    const world = await run(manifests, 6, { scenario: { steps } });
    expect(world.launched).toBe(4);
    expect(world.compute.machines.size).toBe(1);
  });

  it('a node that never joins is replaced after 15 minutes', async () => {
    const { world } = await smallWorld(base);
    await world.run(WORLD_START_MS + 5000);
    const stuck = [...world.compute.machines.values()];
    for (const each of stuck) world.compute.machines.set(each.id, { ...each, state: 'pending' });
    await world.run(WORLD_START_MS + 18 * MINUTE);
    expect(phases(world)).toEqual({ Running: 6 });
    expect(stuck.some((each) => world.compute.machines.has(each.id))).toBe(false);
  });

  it('forged, foreign and repeated interruption messages touch no node', async () => {
    const world = await run(base, 3);
    const [machine] = world.compute.machines.values();
    const warning = (account: string, id: string): string =>
      JSON.stringify({
        source: 'aws.ec2',
        'detail-type': 'EC2 Spot Instance Interruption Warning',
        account,
        region: 'us-east-1',
        time: new Date(world.timeline.nowMs()).toISOString(),
        detail: { 'instance-id': id },
      });
    const id = machine?.id ?? '';
    const bodies = [
      '{',
      warning('999999999999', id),
      warning('123456789012', 'i-00000000000000000'),
      // Its own instance, but on demand: there is no such warning.
      warning('123456789012', id),
    ];
    const messages = bodies.map((body, index) => ({ id: String(index), body }));
    const report = await interrupt(world.ports, world.settings, messages);
    const refused = new Map([
      ['malformed', 1],
      ['foreign_account', 1],
      ['foreign_cluster', 1],
      ['contradicted', 1],
    ]);
    expect(report).toEqual({ failedIds: [], deleted: [], refused, failures: [] });
  });

  it('a node has the hugepages of an overlay, taken out of its memory', async () => {
    const overlay = {
      apiVersion: 'karpenter.sh/v1alpha1',
      kind: 'NodeOverlay',
      metadata: { name: 'huge' },
      spec: { requirements: [], capacity: { 'hugepages-2Mi': '1Gi' } },
    };
    const allocatable = async (manifests: readonly Json[]) => {
      const [node] = readState((await run(manifests, 3)).store).objects.nodes;
      return node?.allocatable ?? {};
    };
    const [plain, huge] = [await allocatable(base), await allocatable([...base, overlay])];
    expect(huge).toEqual({
      ...plain,
      'hugepages-2Mi': 2 ** 30,
      memory: (plain['memory'] ?? 0) - 2 ** 30,
    });
  });

  it('a withheld overlay resource keeps the node from being initialised', async () => {
    const overlay = {
      apiVersion: 'karpenter.sh/v1alpha1',
      kind: 'NodeOverlay',
      metadata: { name: 'fuse' },
      spec: { requirements: [], capacity: { 'smarter-devices/fuse': '10' } },
    };
    const containers = [
      { name: 'main', image: 'app', resources: { requests: { 'smarter-devices/fuse': '1' } } },
    ];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'fuse' }, spec: { containers } };
    const manifests = [nodeClass, nodePool(['on-demand']), overlay, pod];
    const seen = await run(manifests, 4);
    expect(phases(seen)).toEqual({ Running: 1 });
    const steps = [{ at: 0, withhold: ['smarter-devices/fuse'] }];
    const withheld = await run(manifests, 4, { scenario: { steps } });
    expect(phases(withheld)).toEqual({ Pending: 1 });
    expect(withheld.launched).toBe(1);
  });
});
