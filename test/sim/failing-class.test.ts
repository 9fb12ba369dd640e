import { expect, it } from 'vitest';
import { finalState } from '../../shared/sim/report.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

/** A class that cannot be: its schema takes it, as it leaves such settings open. */
function broken(spec: object): object {
  const copy = structuredClone(nodeClass) as { metadata: { name: string }; spec: object };
  copy.metadata.name = 'broken';
  copy.spec = { ...copy.spec, ...spec };
  return copy;
}

it.each([
  ['InvalidKubeletConfiguration', { kubelet: { maxPods: -1 } }],
  ['InvalidKubeletConfiguration', { kubelet: { maxPod: 50 } }],
  ['KubeletExpressionsDisabled', { kubelet: { maxPods: 'min(110, vcpus * 12)' } }],
  ['KubeletExpressionsDisabled', { kubelet: { kubeReserved: { memory: '9 * max_pods' } } }],
  ['Unsupported', { enclaveOptions: { enabled: true } }],
])(
  'an EC2NodeClass says %s of %j, and does not stop the pools of another',
  async (reason, spec) => {
    const manifests = [nodeClass, broken(spec), nodePool(['on-demand']), deployment('web', 3, '1')];
    const { world } = await smallWorld(manifests as Parameters<typeof smallWorld>[0]);
    await world.run(WORLD_START_MS + 5 * 60_000);
    const state = await finalState(world, 'test', 1, {});
    expect(state.pods).toEqual({ running: 3, succeeded: 0, pending: [] });
    const found = world.store.get('EC2NodeClass', undefined, 'broken');
    const { conditions } = Object(found?.['status']) as {
      conditions: readonly Record<string, string>[];
    };
    expect(conditions.find((each) => each['type'] === 'ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason,
    });
  },
);
