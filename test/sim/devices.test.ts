import { expect, test } from 'vitest';
import { phaseOf } from '../../shared/sim/objects.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { nodeClass, nodePool, smallWorld } from './small-world.ts';

const atMinute = (minutes: number): number => WORLD_START_MS + minutes * 60_000;
const DEVICE = 'example.com/device';

const overlay = {
  apiVersion: 'karpenter.sh/v1alpha1',
  kind: 'NodeOverlay',
  metadata: { name: 'devices' },
  spec: { requirements: [], capacity: { [DEVICE]: '4' } },
};
const containers = [{ name: 'main', image: 'app', resources: { requests: { [DEVICE]: '1' } } }];
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user' }, spec: { containers } };

test('a device that its plugin reports long after the node is ready is waited for', async () => {
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), overlay, pod]);
  world.devicesOf = () => ({ has: { [DEVICE]: 4 }, afterMs: 8 * 60_000 });
  await world.run(atMinute(8));
  expect([world.store.list('Pod').map(phaseOf), world.launched]).toEqual([['Pending'], 1]);
  await world.run(atMinute(11));
  expect([world.store.list('Pod').map(phaseOf), world.launched]).toEqual([['Running'], 1]);
});
