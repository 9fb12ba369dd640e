import { expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { TENANCY } from '../../../../shared/core/model/labels.ts';
import type { FleetRequest } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { Json } from '../../../../shared/sim/json.ts';
import { nodePool, withRequirement } from '../../../sim/small-world.ts';
import { settings, spread, waitingWorld, withPorts } from '../world.ts';

/** A NodePool that lets nodes have one of these tenancies. */
function poolOf(tenancies: readonly string[]): Json {
  const requirement = { key: TENANCY, operator: 'In', values: [...tenancies] };
  return withRequirement(nodePool(['on-demand']), requirement);
}

/** What EC2 is asked for pods that say nothing of the tenancy, and what the node claims then say. */
async function launchedBy(tenancies: readonly string[]) {
  const { world, ports } = await waitingWorld([spread('web', 1)], poolOf(tenancies));
  const asked: (string | undefined)[] = [];
  const launch = async (fleet: FleetRequest) => {
    asked.push(fleet.nodeLabels[TENANCY]);
    return await ports.compute.launch(fleet);
  };
  await provision(withPorts(ports, { compute: { launch } }), settings);
  const { nodeClaims } = readState(world.store).objects;
  return { asked, said: nodeClaims.map(({ labels }) => labels[TENANCY]) };
}

it('nodes are dedicated where the NodePool allows nothing else', async () => {
  expect(await launchedBy(['dedicated'])).toEqual({ asked: ['dedicated'], said: ['dedicated'] });
});

it('nodes are not dedicated where they need not be, and say so', async () => {
  expect(await launchedBy(['dedicated', 'default'])).toEqual({
    asked: [undefined],
    said: ['default'],
  });
});
