import { expect, it } from 'vitest';
import type { Labels } from '../../../../shared/core/model/labels.ts';
import type { Ports } from '../../../../shared/ports.ts';
import { type Json, objectAt } from '../../../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../../sim/small-world.ts';
import { MINUTE, withPorts } from '../world.ts';

it.each([
  ['the name of its node', {}, /^ip-/],
  ['the name of its class, where that has one', { Name: 'worker' }, /^worker$/],
])('an instance has %s', async (_, tags: Labels, name) => {
  const given: Labels[] = [];
  const wrap = (ports: Ports): Ports =>
    withPorts(ports, {
      compute: {
        tag: async (id, added) => {
          given.push(added);
          await ports.compute.tag(id, added);
        },
      },
    });
  const spec = { ...objectAt(nodeClass, 'spec'), tags: { ...tags } };
  const manifests: Json[] = [{ ...nodeClass, spec }, nodePool(['on-demand'])];
  const { world } = await smallWorld([...manifests, deployment('web', 2, '1')], { wrap });
  await world.run(WORLD_START_MS + 3 * MINUTE);
  expect(given).toHaveLength(1);
  const [machine] = world.compute.machines.values();
  expect(machine?.tags['Name']).toMatch(name);
  expect('Name' in (given[0] ?? {})).toBe(tags['Name'] === undefined);
});
