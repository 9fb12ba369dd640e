import { describe, expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, objectAt } from '../../shared/sim/json.ts';
import { admit } from '../../shared/sim/kinds.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

const SANDBOX: Json = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'sandbox' },
  handler: 'kata',
  overhead: { podFixed: { cpu: '900m', memory: '256Mi' } },
  scheduling: {
    nodeSelector: { 'topology.kubernetes.io/zone': 'us-east-1b' },
    tolerations: [{ key: 'sandbox', operator: 'Exists', effect: 'NoSchedule' }],
  },
};

/** A NodePool of nodes that only sandboxes come to. */
function tainted(): Json {
  const pool = nodePool(['on-demand']);
  const spec = objectAt(pool, 'spec', 'template', 'spec');
  const taints = [{ key: 'sandbox', value: 'true', effect: 'NoSchedule' }];
  return { ...pool, spec: { template: { spec: { ...spec, taints } } } };
}

async function podsOf(workload: Json, ...more: readonly Json[]) {
  const { world } = await smallWorld([nodeClass, tainted(), workload, ...more]);
  await world.run(WORLD_START_MS + 5 * MINUTE);
  const { pods, nodes } = readState(world.store).objects;
  return pods.map(({ phase, nodeName, spec }) => ({
    phase,
    zone: nodes.find(({ name }) => name === nodeName)?.labels['topology.kubernetes.io/zone'],
    cpu: spec.requests['cpu'],
  }));
}

describe('a pod of a RuntimeClass', () => {
  const named = { runtimeClassName: 'sandbox' };
  const running = { phase: 'Running', zone: 'us-east-1b' };

  it('has its overhead, node selector and tolerations', async () => {
    const web = deployment('web', 1, '100m', named);
    expect(await podsOf(web, SANDBOX)).toEqual([{ ...running, cpu: 1000 }]);
  });

  it('has them also where it is no workload that makes it', async () => {
    const template = objectAt(deployment('web', 1, '100m', named), 'spec', 'template', 'spec');
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec: template };
    expect(await podsOf(SANDBOX, pod)).toEqual([{ ...running, cpu: 1000 }]);
  });

  it('keeps an overhead and tolerations of its own', async () => {
    const own = { overhead: { cpu: '400m' }, tolerations: [{ key: 'x', operator: 'Exists' }] };
    const web = deployment('web', 1, '100m', { ...named, ...own });
    expect(await podsOf(web, SANDBOX)).toEqual([{ ...running, cpu: 500 }]);
  });

  it('that is not there is as it says itself', async () => {
    const [pod] = await podsOf(deployment('web', 1, '100m', named));
    expect(pod).toEqual({ phase: 'Pending', zone: undefined, cpu: 100 });
  });
});

describe('a RuntimeClass', () => {
  it.each<[string, Json, string]>([
    ['overhead', { podFixed: { cpu: 'much' } }, 'overhead.podFixed.cpu'],
    ['scheduling', { nodeSelector: { zone: 1 } }, 'scheduling.nodeSelector.zone'],
    ['scheduling', { tolerations: [{ effect: 'Never' }] }, 'scheduling.tolerations[0].effect'],
  ])('is refused for a bad %s', (field, value, path) => {
    const admission = admit({ ...SANDBOX, [field]: value });
    expect(admission).toMatchObject({ kind: 'refused', issues: [{ path }] });
  });

  it('is used', () => {
    expect(admit(SANDBOX)).toEqual({ kind: 'used' });
  });
});
