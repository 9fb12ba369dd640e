import { expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import type { Instance } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { runningWorld, spread, withPorts } from '../world.ts';

const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
const RESERVATION = 'karpenter.k8s.aws/capacity-reservation-id';
const RESERVED = { [CAPACITY_TYPE]: 'reserved', [RESERVATION]: 'cr-1' };

/** A node that was launched into a reservation. */
async function reservedWorld(): Promise<World> {
  const world = await runningWorld([spread('web', 1)]);
  const { nodeClaims, nodes } = readState(world.store).objects;
  for (const { name } of nodeClaims) {
    await world.ports.cluster.patchNodeClaim({ kind: 'NodeClaim', name }, { labels: RESERVED });
  }
  for (const { name } of nodes) {
    await world.ports.cluster.patchNode({ kind: 'Node', name }, { labels: RESERVED });
  }
  return world;
}

/** Of claim and node, after a pass in which EC2 says so of the instance. */
async function labelsAfter(world: World, said: Partial<Instance>) {
  const list = async () => (await world.ports.compute.list()).map((each) => ({ ...each, ...said }));
  const report = await lifecycle(withPorts(world.ports, { compute: { list } }), world.settings);
  expect(report.failures).toEqual([]);
  const { nodeClaims, nodes } = readState(world.store).objects;
  return [...nodeClaims, ...nodes].map(({ labels }) => [
    labels[CAPACITY_TYPE],
    labels[RESERVATION],
  ]);
}

it('claim and node of an instance whose reservation has ended say that it is on-demand', async () => {
  const world = await reservedWorld();
  const demoted = ['on-demand', undefined];
  expect(await labelsAfter(world, { reservationId: undefined })).toEqual([demoted, demoted]);
});

it('its price is no longer the one of the reservation', async () => {
  const world = await reservedWorld();
  await labelsAfter(world, { reservationId: undefined });
  const { nodeClaims } = readState(world.store).objects;
  expect(nodeClaims.map(({ annotations }) => annotations['joiner.dev/price'])).toEqual([undefined]);
});

it.each<[string, Partial<Instance>]>([
  ['is in its reservation', { reservationId: 'cr-1' }],
  ['ends', { reservationId: undefined, state: 'shutting-down' }],
])('one that %s is reserved', async (_, said) => {
  const world = await reservedWorld();
  const reserved = ['reserved', 'cr-1'];
  expect(await labelsAfter(world, said)).toEqual([reserved, reserved]);
});
