import { describe, expect, it } from 'vitest';
import type { PodWebhook } from '../../shared/sim/admission.ts';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, objectAt, textAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { daemonSet } from './admission-faults.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

const requests = { requests: { cpu: '100m', memory: '64Mi' } };

function limitRange(defaultRequest: Json): Json {
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'defaults', namespace: 'kube-system' },
    spec: { limits: [{ type: 'Container', defaultRequest }] },
  };
}

/** Asks for more for the pods of the DaemonSet, as a VerticalPodAutoscaler does. */
function asking(cpu: string): PodWebhook {
  return (pod) => {
    if (textAt(pod, 'metadata', 'namespace') !== 'kube-system') return pod;
    const containers = [{ name: 'main', resources: { requests: { cpu, memory: '64Mi' } } }];
    return { ...pod, spec: { ...objectAt(pod, 'spec'), containers } };
  };
}

async function run(manifests: readonly Json[], webhooks: readonly PodWebhook[]): Promise<World> {
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), ...manifests]);
  world.webhooks.push(...webhooks);
  await world.run(WORLD_START_MS + 15 * MINUTE);
  return world;
}

function running(world: World, app: string): number {
  return readState(world.store).objects.pods.filter(
    ({ labels, phase }) => labels['app'] === app && phase === 'Running',
  ).length;
}

describe('DaemonSets whose pods request more than their template', () => {
  it('by a LimitRange: the first node has room for both', async () => {
    const world = await run(
      [limitRange({ cpu: '2', memory: '64Mi' }), daemonSet(), deployment('web', 1, '3')],
      [],
    );
    expect(world.launched).toBe(1);
    expect([running(world, 'web'), running(world, 'agent')]).toEqual([1, 1]);
  });

  it('by a webhook, of which only a pod can tell: the second node has', async () => {
    const world = await run([daemonSet(requests), deployment('web', 1, '3')], [asking('2')]);
    expect(world.launched).toBeLessThanOrEqual(2);
    expect(running(world, 'web')).toBe(1);
  });
});

describe('nodes that do not help the pod they were launched for', () => {
  it('are three at most, whatever takes the pod its room', async () => {
    let asked = 1;
    const growing: PodWebhook = (pod) => {
      asked += 1;
      return asking(String(Math.min(asked, 7)))(pod);
    };
    const world = await run([daemonSet(requests), deployment('web', 1, '3')], [growing]);
    expect(world.launched).toBeLessThanOrEqual(3);
  });
});
