import { describe, expect, it } from 'vitest';
import { PortError, type Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, objectAt, textAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { withPorts } from '../unit/app/world.ts';
import { entries, MINUTE } from './rolls.ts';
import {
  apartOf,
  deployment,
  nodeClass,
  nodePool,
  smallWorld,
  withPodAnnotations,
} from './small-world.ts';

const ROLLOUT = { 'joiner.dev/drain': 'rollout' };

const surging = withPodAnnotations(deployment('web', 1, '1'), ROLLOUT);

function withSpecOf(workload: Json, more: Json): Json {
  return { ...workload, spec: { ...objectAt(workload, 'spec'), ...more } };
}

const budget: Json = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
};

function readyPods(world: World): number {
  const { pods } = readState(world.store).objects;
  return pods.filter(({ ready, deletedAtMs }) => ready && deletedAtMs === undefined).length;
}

/** The least number of ready pods while the only node is drained, after its pod ran. */
async function drained(workload: Json | readonly Json[], wrap?: (ports: Ports) => Ports) {
  const options = wrap === undefined ? {} : { wrap };
  const { world } = await smallWorld(
    [nodeClass, nodePool(['on-demand']), ...[workload].flat()],
    options,
  );
  await world.run(WORLD_START_MS + 4 * MINUTE);
  expect(readyPods(world)).toBe(1);
  const [claim] = readState(world.store).objects.nodeClaims;
  await world.ports.cluster.delete({ kind: 'NodeClaim', name: claim?.name ?? '' });
  let least = 1;
  const endMs = world.timeline.nowMs() + 30 * MINUTE;
  for (let atMs = world.timeline.nowMs(); atMs < endMs; atMs += 1000) {
    await world.run(atMs);
    least = Math.min(least, readyPods(world));
  }
  const { nodeClaims } = readState(world.store).objects;
  const isGone = nodeClaims.every(({ name }) => name !== claim?.name);
  return { world, least, isGone };
}

describe('a drain of the only pod of a Deployment', () => {
  it('evicts it, and another starts then', async () => {
    const { world, least, isGone } = await drained(deployment('web', 1, '1'));
    expect(least).toBe(0);
    expect(isGone).toBe(true);
    expect(world.evictions).toBe(1);
  });

  it('with the annotation starts another first, with one restart', async () => {
    const { world, least, isGone } = await drained(surging);
    expect(least).toBe(1);
    expect(isGone).toBe(true);
    expect(world.evictions).toBe(0);
    expect(entries(world, 'RolloutRestarted')).toHaveLength(1);
  });

  it('launches one node, although the pod and its successor are both there', async () => {
    const { world } = await drained(withPodAnnotations(deployment('web', 1, '1500m'), ROLLOUT));
    expect(world.launched).toBe(2);
  });

  it('asks for the restart every ten seconds at most', async () => {
    const asked: number[] = [];
    const counted = (ports: Ports): Ports => {
      const restartRollout: typeof ports.cluster.restartRollout = async (set, times) => {
        asked.push(times.nowMs);
        return await ports.cluster.restartRollout(set, times);
      };
      return withPorts(ports, { cluster: { restartRollout } });
    };
    const { isGone } = await drained(surging, counted);
    expect(isGone).toBe(true);
    expect(asked.length).toBeGreaterThan(1);
    const gaps = asked.slice(1).map((atMs, index) => atMs - (asked[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10_000);
  });

  it('evicts it where the restart is forbidden, and says so', async () => {
    const forbidden = (ports: Ports): Ports => {
      const cluster = new Proxy(ports.cluster, {
        get: (target, name) => {
          if (name !== 'restartRollout') {
            const value: unknown = Reflect.get(target, name);
            return typeof value === 'function' ? value.bind(target) : value;
          }
          return async () => {
            throw new PortError('unauthorised', '403', 'deployments is forbidden');
          };
        },
      });
      return { ...ports, cluster };
    };
    const { world, isGone } = await drained(surging, forbidden);
    expect(isGone).toBe(true);
    expect(world.evictions).toBe(1);
    const [said] = entries(world, 'RolloutRefused');
    expect(said?.message).toContain('deployments is forbidden');
  });

  it('evicts it where the annotation is misspelt, and says so', async () => {
    const misspelt = withPodAnnotations(deployment('web', 1, '1'), {
      'joiner.dev/drain': 'rolout',
    });
    const { world, isGone } = await drained(misspelt);
    expect(isGone).toBe(true);
    expect(world.evictions).toBe(1);
    const [said] = entries(world, 'RolloutRefused');
    expect(said?.message).toContain('joiner.dev/drain: "rolout" is invalid; valid: rollout');
  });

  it.each<[string, Json, string]>([
    [
      'ends pods before it starts others',
      { strategy: { type: 'Recreate' } },
      'spec.strategy.type is "Recreate"; valid: RollingUpdate',
    ],
    ['is paused', { paused: true }, 'spec.paused is true; valid: false'],
    [
      'may be without its pod',
      { strategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } },
      'spec.strategy: maxUnavailable 1 and maxSurge 0 let 1 of 1 pods be missing; ' +
        'valid: maxUnavailable 0',
    ],
  ])('evicts it where the Deployment %s, and says so', async (_, spec, fault) => {
    const { world, isGone } = await drained(withSpecOf(surging, spec));
    expect(isGone).toBe(true);
    expect(world.evictions).toBe(1);
    expect(entries(world, 'RolloutRestarted')).toEqual([]);
    const [said] = entries(world, 'RolloutRefused');
    expect(said?.message).toContain(`Deployment default/web: ${fault}`);
  });

  it.each([
    ['spec.strategy.type is Recreate', { strategy: { type: 'Recreate' } }],
    ['spec.paused is true', { paused: true }],
  ])('waits for its PodDisruptionBudget where %s', async (_, spec) => {
    const { world, least, isGone } = await drained([withSpecOf(surging, spec), budget]);
    expect(least).toBe(1);
    expect(isGone).toBe(false);
    expect(world.evictions).toBe(0);
  });

  it('of another owner with the annotation evicts it', async () => {
    const spec = surging['spec'] as Json;
    const set = { ...surging, kind: 'StatefulSet', spec: { ...spec, serviceName: 'all' } };
    const { world, isGone } = await drained(set);
    expect(isGone).toBe(true);
    expect(world.evictions).toBe(1);
  });
});

it('pods that a restart replaces get no nodes beside those of the new pods', async () => {
  const web = withSpecOf(withPodAnnotations(deployment('web', 8, '1500m'), ROLLOUT), {
    strategy: { rollingUpdate: { maxUnavailable: 0 } },
  });
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), web], {
    types: /^c7g\.large$/,
  });
  await world.run(WORLD_START_MS + 4 * MINUTE);
  expect(world.launched).toBe(8);
  const [first, second] = readState(world.store).objects.nodeClaims;
  for (const claim of [first, second]) {
    await world.ports.cluster.delete({ kind: 'NodeClaim', name: claim?.name ?? '' });
  }
  await world.run(WORLD_START_MS + 30 * MINUTE);
  expect(world.evictions).toBe(0);
  // Two in place of those that go, and two for the pods that there are beyond eight (maxSurge).
  expect(world.launched).toBe(8 + 2 + 2);
});

it('a rolling update never has more pods, nor fewer ready ones, than it may', async () => {
  const web = (again: string): Json =>
    withPodAnnotations(
      withSpecOf(deployment('web', 8, '100m'), {
        strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
      }),
      { again },
    );
  const { world, script } = await smallWorld([nodeClass, nodePool(['on-demand']), web('no')]);
  await world.run(WORLD_START_MS + 4 * MINUTE);
  script.apply([web('yes')]);
  const counts: { readonly staying: number; readonly ready: number }[] = [];
  for (let second = 0; second < 120; second += 1) {
    await world.run(WORLD_START_MS + 4 * MINUTE + second * 1000);
    const { pods } = readState(world.store).objects;
    const staying = pods.filter(({ deletedAtMs }) => deletedAtMs === undefined).length;
    counts.push({ staying, ready: readyPods(world) });
  }
  expect(Math.max(...counts.map(({ staying }) => staying))).toBe(10);
  expect(Math.min(...counts.map(({ ready }) => ready))).toBe(7);
  expect(counts.at(-1)).toEqual({ staying: 8, ready: 8 });
  const { pods } = readState(world.store).objects;
  expect(pods.every(({ annotations }) => annotations['again'] === 'yes')).toBe(true);
});

it('a rolling update launches no more than maxSurge asks for: later pods take the room of earlier ones', async () => {
  const web = (again: string): Json =>
    withPodAnnotations(
      withSpecOf(deployment('web', 8, '1500m'), {
        strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
      }),
      { again },
    );
  const manifests = [nodeClass, nodePool(['on-demand']), web('no')];
  const { world, script } = await smallWorld(manifests, { types: /^c7g\.large$/ });
  await world.run(WORLD_START_MS + 4 * MINUTE);
  expect(world.launched).toBe(8);
  script.apply([web('yes')]);
  await world.run(WORLD_START_MS + 30 * MINUTE);
  const { pods } = readState(world.store).objects;
  expect(pods.every(({ annotations, ready }) => ready && annotations['again'] === 'yes')).toBe(
    true,
  );
  expect(world.launched).toBe(8 + 2);
  expect(world.evictions).toBe(0);
});

describe('a restart of a Deployment in the simulation', () => {
  /** Of its pods by the second, old and new, once its template has changed. */
  async function restarted(spec: Json) {
    const web = withSpecOf(deployment('web', 2, '1'), spec);
    const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), web]);
    await world.run(WORLD_START_MS + 4 * MINUTE);
    const uids = (): readonly string[] => readState(world.store).objects.pods.map(({ uid }) => uid);
    const before = uids();
    const stored = world.store.get('Deployment', 'default', 'web');
    expect(stored).toBeDefined();
    if (stored !== undefined) {
      const metadata = { labels: { app: 'web' }, annotations: { again: 'yes' } };
      world.store.update(stored, (latest) => {
        const template = { ...objectAt(latest, 'spec', 'template'), metadata };
        return { ...latest, spec: { ...objectAt(latest, 'spec'), template } };
      });
    }
    const ready: number[] = [];
    let isMixed = false;
    const endMs = world.timeline.nowMs() + 5 * MINUTE;
    for (let atMs = world.timeline.nowMs(); atMs < endMs; atMs += 1000) {
      await world.run(atMs);
      ready.push(readyPods(world));
      isMixed ||= new Set(uids().map((uid) => before.includes(uid))).size > 1;
    }
    return { least: Math.min(...ready), last: ready.at(-1), isMixed, before, after: uids() };
  }

  it('replaces the pods, and ends old ones once others are ready', async () => {
    const { least, before, after } = await restarted({});
    expect(least).toBe(2);
    expect(after).toHaveLength(2);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
  });

  it('replaces none while it is paused', async () => {
    const { before, after } = await restarted({ paused: true });
    expect(after).toEqual(before);
  });

  it('with the strategy Recreate ends all old pods first', async () => {
    const recreate = { strategy: { type: 'Recreate' } };
    const { least, last, isMixed, before, after } = await restarted(recreate);
    expect([least, last, isMixed]).toEqual([0, 2, false]);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
  });
});

it('a restart that would end a protected pod on another node is an eviction', async () => {
  const pair = withPodAnnotations(deployment('web', 2, '1', apartOf('web')), ROLLOUT);
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), pair]);
  await world.run(WORLD_START_MS + 4 * MINUTE);
  const [first, second] = world.store.list('Pod');
  if (first === undefined || second === undefined) throw new Error('the world has no pods');
  const annotations = { ...first.metadata.annotations, 'karpenter.sh/do-not-disrupt': 'true' };
  world.store.update(first, (pod) => ({ ...pod, metadata: { ...pod.metadata, annotations } }));
  const { nodeClaims } = readState(world.store).objects;
  const host = textAt(second, 'spec', 'nodeName');
  const claim = nodeClaims.find(({ nodeName }) => nodeName === host);
  await world.ports.cluster.delete({ kind: 'NodeClaim', name: claim?.name ?? '' });
  await world.run(WORLD_START_MS + 20 * MINUTE);
  const names = world.store.list('Pod').map(({ metadata }) => metadata.name);
  expect(names).toContain(first.metadata.name);
  expect(names).not.toContain(second.metadata.name);
  expect([names.length, world.evictions]).toEqual([2, 1]);
  expect(
    entries(world, 'RolloutRefused')
      .map(({ message }) => message)
      .join(),
  ).toContain(`Pod default/${first.metadata.name} of the Deployment may not be disrupted`);
});

it('a pod that waits for a node keeps no Deployment from being restarted', async () => {
  const annotations = { ...ROLLOUT, 'karpenter.sh/do-not-disrupt': '3m' };
  const pair = withPodAnnotations(deployment('web', 2, '1', apartOf('web')), annotations);
  const pool = nodePool(['on-demand'], { limits: { nodes: '1' } });
  const { world } = await smallWorld([nodeClass, pool, pair]);
  await world.run(WORLD_START_MS + 6 * MINUTE);
  expect(readyPods(world)).toBe(1);
  const [claim] = readState(world.store).objects.nodeClaims;
  await world.ports.cluster.delete({ kind: 'NodeClaim', name: claim?.name ?? '' });
  await world.run(WORLD_START_MS + 6.25 * MINUTE);
  expect(entries(world, 'RolloutRefused')).toEqual([]);
  expect([entries(world, 'RolloutRestarted').length, world.evictions]).toEqual([1, 0]);
});
