import { describe, expect, it } from 'vitest';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import { DO_NOT_DISRUPT, SIMULATED_DURATION } from '../../shared/core/model/labels.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { entries, MINUTE, poolWith } from './rolls.ts';
import { deployment, nodeClass, smallWorld } from './small-world.ts';

const eager: Json = { budgets: [{ nodes: '100%' }], consolidateAfter: '0s' };

function apartFrom(app: string): Json {
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: { app } },
  };
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  return { affinity: { podAntiAffinity: required } };
}

function scaled(minutes: number, name: string, replicas: number): Scenario['steps'][number] {
  const at = minutes * MINUTE;
  return { at, scale: { kind: 'Deployment', name, namespace: 'default', replicas } };
}

function ofType(pool: Json, types: readonly string[]): Json {
  const spec = pool['spec'] as { readonly template: Json };
  const own = spec.template['spec'] as { readonly requirements: readonly Json[] };
  const requirements = [
    ...own.requirements,
    { key: 'node.kubernetes.io/instance-type', operator: 'In', values: types },
  ];
  const template = { ...spec.template, spec: { ...own, requirements } };
  return { ...pool, spec: { ...spec, template } };
}

async function end(world: World, minutes: number): Promise<void> {
  await world.run(WORLD_START_MS + minutes * MINUTE);
}

function emptyNodes(world: World): readonly string[] {
  const { nodes, pods } = readState(world.store).objects;
  const used = new Set(pods.map(({ nodeName }) => nodeName));
  return nodes.map(({ name }) => name).filter((name) => !used.has(name));
}

describe('drains that wait for their pods', () => {
  it.each([2, 3, 5])('stop nothing else: %i of them, 3 endings a minute', async (stuck) => {
    const kept = deployment('job', 5, '1500m', apartFrom('job'));
    const spec = kept['spec'] as { readonly template: { readonly metadata: Json } };
    const metadata = { ...spec.template.metadata, annotations: { [DO_NOT_DISRUPT]: 'true' } };
    const jobs = { ...kept, spec: { ...spec, template: { ...spec.template, metadata } } };
    const web = deployment('web', 6, '1500m', apartFrom('web'));
    const { world } = await smallWorld([nodeClass, poolWith({}, eager), jobs, web], {
      settings: { terminationsPerMinuteMax: 3 },
      scenario: { steps: [scaled(6, 'web', 1)] },
    });
    world.timeline.at(WORLD_START_MS + 4 * MINUTE, () => {
      const { pods, nodeClaims } = readState(world.store).objects;
      const held = pods.filter(({ labels }) => labels['app'] === 'job');
      const nodes = new Set(held.map(({ nodeName }) => nodeName));
      for (const { name } of nodeClaims
        .filter(({ nodeName }) => nodes.has(nodeName))
        .slice(0, stuck)) {
        const claim = world.store.get('NodeClaim', undefined, name);
        if (claim !== undefined) world.store.delete(claim);
      }
    });
    await end(world, 40);
    const { nodeClaims, pods } = readState(world.store).objects;
    expect(nodeClaims.filter(({ deletedAtMs }) => deletedAtMs !== undefined)).toHaveLength(stuck);
    expect(pods.filter(({ labels }) => labels['app'] === 'job')).toHaveLength(5);
    expect(emptyNodes(world)).toEqual([]);
  });
});

describe('a node that takes no pods of others in', () => {
  const two = ofType(poolWith({}, eager), ['c7g.2xlarge', 'c7g.large']);
  const pods = [deployment('big', 1, '5'), deployment('web', 4, '600m')];
  const idle = ofType(poolWith({}, eager), ['m6a.large']);
  const spec = idle['spec'] as Json;
  const fixed = { ...idle, metadata: { name: 'fixed' }, spec: { ...spec, replicas: 1 } };

  it('may do so though it is static and nothing runs there', async () => {
    const steps = [{ at: 5 * MINUTE, apply: [fixed as never] }, scaled(12, 'big', 0)];
    const { world } = await smallWorld([nodeClass, two, ...pods], { scenario: { steps } });
    await end(world, 40);
    // A c7g.2xlarge is $0.29 an hour; one c7g.large beside the static node is enough.
    expect(world.pricePerHour()).toBeLessThan(0.17);
  });

  it('is left out of the plan where pods come and go, and others are used', async () => {
    const job = (at: number) => ({
      at: (20 + 4 * at) * MINUTE,
      apply: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name: `j${at}`, namespace: 'default' },
          spec: {
            template: {
              metadata: { labels: { app: 'j' }, annotations: { [SIMULATED_DURATION]: '2m' } },
              spec: {
                restartPolicy: 'Never',
                containers: [
                  { name: 'main', image: 'app', resources: { requests: { cpu: '100m' } } },
                ],
              },
            },
          },
        } as never,
      ],
    });
    const steps = [scaled(15, 'big', 0), ...Array.from({ length: 20 }, (_, at) => job(at))];
    const pool = ofType(poolWith({}, { ...eager, consolidateAfter: '10m' }), ['c7g.xlarge']);
    const preferred = {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 100,
              podAffinityTerm: {
                topologyKey: 'kubernetes.io/hostname',
                labelSelector: { matchLabels: { app: 'web' } },
              },
            },
          ],
        },
      },
    };
    const web = deployment('web', 10, '1', preferred);
    const big = deployment('big', 10, '2400m', apartFrom('big'));
    const { world } = await smallWorld([nodeClass, pool, big, web], { scenario: { steps } });
    await end(world, 100);
    const { nodes, nodeClaims } = readState(world.store).objects;
    expect(nodeClaims.every((claim) => isTrue(claim, 'Initialized'))).toBe(true);
    expect(nodes.length).toBeLessThanOrEqual(5);
    expect(entries(world, 'evicted').length).toBeGreaterThan(0);
  });
});
