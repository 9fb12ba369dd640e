import { expect, it } from 'vitest';
import { finalState } from '../../shared/sim/report.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

/** A class whose kubelet cannot be: the negative number passes the schema, which leaves it open. */
function broken(): object {
  const copy = structuredClone(nodeClass) as { metadata: { name: string }; spec: object };
  copy.metadata.name = 'broken';
  copy.spec = { ...copy.spec, kubelet: { maxPods: -1 } };
  return copy;
}

it('one EC2NodeClass that cannot be read does not stop the pools of another', async () => {
  const manifests = [nodeClass, broken(), nodePool(['on-demand']), deployment('web', 3, '1')];
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
    reason: 'InvalidKubeletConfiguration',
  });
});
