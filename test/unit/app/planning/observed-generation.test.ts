import { expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { type Json, listAt, numberAt } from '../../../../shared/sim/json.ts';
import { nodePool } from '../../../sim/small-world.ts';
import { settings, waitingWorld } from '../world.ts';

/** The price of c7g, and no field that changes what is said of it. */
function overlay(price: string): Json {
  return {
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name: 'graviton' },
    spec: {
      requirements: [{ key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c7g'] }],
      price,
    },
  };
}

/** `kubectl wait --for=condition=Ready` waits until the condition is about the spec that is there. */
it.each([
  ['NodePool', nodePool(['on-demand']), nodePool(['on-demand'], { limits: { cpu: '100' } })],
  ['NodeOverlay', overlay('0.1'), overlay('0.2')],
])('conditions of a %s are said again of a changed spec', async (kind, before, after) => {
  const { world, ports, add } = await waitingWorld([before]);
  const generations = () => {
    const [object] = world.store.list(kind);
    const observed = listAt(object, 'status', 'conditions').map((each) =>
      numberAt(each, 'observedGeneration'),
    );
    return { now: object?.metadata.generation, observed: [...new Set(observed)] };
  };
  await provision(ports, settings);
  expect(generations()).toEqual({ now: 1, observed: [1] });
  await add([after]);
  await provision(ports, settings);
  expect(generations()).toEqual({ now: 2, observed: [2] });
  const { version } = world.store;
  await provision(ports, settings);
  expect(world.store.version).toBe(version);
});
