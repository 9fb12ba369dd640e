import { describe, expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

function priorityClass(name: string, value: number, rest: Json = {}): Json {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    ...rest,
  };
}

async function running(manifests: readonly Json[]): Promise<readonly string[]> {
  const { world } = await smallWorld(manifests);
  await world.run(WORLD_START_MS + 5 * 60_000);
  const { pods } = readState(world.store).objects;
  return pods
    .filter((pod) => pod.phase === 'Running')
    .map((pod) => `${pod.labels['app']} ${pod.spec.priority}`)
    .sort();
}

describe('priorities in the simulated world', () => {
  const small = [
    nodeClass,
    nodePool(['on-demand'], { limits: { nodes: 1 } }),
    deployment('plain', 30, '3'),
  ];

  it('are those of the class: with one node, it is for the pods that matter', async () => {
    const high = deployment('high', 2, '3', { priorityClassName: 'high' });
    const pods = await running([...small, priorityClass('high', 1000), high]);
    expect(pods).toContain('high 1000');
    expect(pods.filter((pod) => pod === 'high 1000')).toHaveLength(2);
  });

  it('are those of the default class where a pod names none', async () => {
    const pods = await running([...small, priorityClass('usual', 7, { globalDefault: true })]);
    expect(new Set(pods)).toEqual(new Set(['plain 7']));
  });

  it('are built in for the classes of the system', async () => {
    const critical = deployment('critical', 1, '1', {
      priorityClassName: 'system-cluster-critical',
    });
    expect(await running([nodeClass, nodePool(['on-demand']), critical])).toEqual([
      'critical 2000000000',
    ]);
  });
});
