import { describe, expect, it } from 'vitest';
import { PortError, type Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld, withPodAnnotations } from './small-world.ts';

const ROLLOUT = { 'joiner.dev/drain': 'rollout' };

const surging = withPodAnnotations(deployment('web', 1, '1'), ROLLOUT);

function readyPods(world: World): number {
  const { pods } = readState(world.store).objects;
  return pods.filter(({ ready, deletedAtMs }) => ready && deletedAtMs === undefined).length;
}

/** The least number of ready pods while the only node is drained, after its pod ran. */
async function drained(workload: Json, wrap?: (ports: Ports) => Ports) {
  const options = wrap === undefined ? {} : { wrap };
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), workload], options);
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

  it('of another owner with the annotation evicts it', async () => {
    const spec = surging['spec'] as Json;
    const set = { ...surging, kind: 'StatefulSet', spec: { ...spec, serviceName: 'all' } };
    const { world, isGone } = await drained(set);
    expect(isGone).toBe(true);
    expect(world.evictions).toBe(1);
  });
});

it('pods that a restart replaces get no nodes beside those of the new pods', async () => {
  const web = withPodAnnotations(deployment('web', 8, '1500m'), { 'joiner.dev/drain': 'rollout' });
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
  // The simulated Deployment starts all of its new pods at once.
  expect(world.launched).toBe(8 + 8);
});
