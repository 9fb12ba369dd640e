import { expect, it } from 'vitest';
import type { Instance } from '../../shared/ports.ts';
import { listAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { withPorts } from '../unit/app/world.ts';
import { MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const CAUSE = 'Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state';

/** Three seconds after each launch EC2 ends the instance, for a key that it may not use. */
async function worldWithoutKey(): Promise<World> {
  const ended = new Map<string, Instance>();
  const { world } = await smallWorld(
    [nodeClass, nodePool(['on-demand']), deployment('web', 6, '1')],
    {
      wrap: (ports) => {
        const { compute } = ports;
        const end = (id: string): void => {
          const machine = world.compute.machines.get(id);
          if (machine !== undefined) {
            ended.set(id, { ...machine, state: 'terminated', stateReason: CAUSE });
          }
          void compute.terminate([id]);
        };
        return withPorts(ports, {
          compute: {
            launch: async (fleet) => {
              const result = await compute.launch(fleet);
              for (const { id } of result.instances) world.timeline.after(3000, () => end(id));
              return result;
            },
            list: async () => (await compute.list()).filter(({ id }) => !ended.has(id)),
            describe: async (ids) => ids.flatMap((id) => ended.get(id) ?? []),
          },
        });
      },
    },
  );
  return world;
}

it('a NodePool says why EC2 ends its instances while they boot, and launches ever fewer', async () => {
  const world = await worldWithoutKey();
  await world.run(WORLD_START_MS + 60 * MINUTE);
  const pool = world.store.get('NodePool', undefined, 'default');
  const health = listAt(pool ?? {}, 'status', 'conditions').find(
    (each) => Object(each).type === 'NodeRegistrationHealthy',
  );
  expect(health).toMatchObject({ status: 'False', reason: 'LaunchesHalted' });
  expect(Object(health).message).toContain(`; the last one: ${CAUSE}; no launch before `);
  expect(world.launched).toBeLessThanOrEqual(12);
  const said = world.recorder.decisions.flatMap(({ reasons }) => reasons);
  expect(said).toContainEqual({ code: 'instance-terminated-early', parameters: { cause: CAUSE } });
});
