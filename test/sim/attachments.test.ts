import { expect, test } from 'vitest';
import { objectAt } from '../../shared/sim/json.ts';
import { phaseOf } from '../../shared/sim/objects.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';
import { CLASS, TEMPLATE } from './swarm/volumes.ts';

const MINUTE = 60_000;

test('a node waits until its volumes are detached, and a pod for the volume that it had', async () => {
  const made = deployment('db', 1, '1');
  const spec = { ...objectAt(made, 'spec'), volumeClaimTemplates: [TEMPLATE] };
  const set = { ...made, kind: 'StatefulSet', spec };
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), CLASS, set]);
  world.controlPlane.detachMs = () => 3 * MINUTE;
  await world.run(WORLD_START_MS + 3 * MINUTE);
  const [claim] = world.store.list('NodeClaim');
  if (claim === undefined) throw new Error('nothing was launched');
  world.store.delete(claim);
  await world.run(WORLD_START_MS + 5.5 * MINUTE);
  expect([...world.compute.machines.values()].map(({ state }) => state)).toContain('running');
  expect(
    world.store.list('NodeClaim').find(({ metadata }) => metadata.uid === claim.metadata.uid),
  ).toMatchObject({
    status: {
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'VolumesDetached', status: 'Unknown' }),
      ]),
    },
  });
  expect(world.store.list('Pod').map(phaseOf)).toEqual(['Pending']);
  await world.run(WORLD_START_MS + 9 * MINUTE);
  expect(world.store.list('Pod').map(phaseOf)).toEqual(['Running']);
  expect(world.store.list('NodeClaim')).toHaveLength(1);
  expect(world.store.list('VolumeAttachment')).toHaveLength(1);
});
