import { expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../../shared/app/lifecycle/memory.ts';
import { PortError, type Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { MINUTE, reading, runningWorld, settings, spread, withPorts } from '../world.ts';

const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';
const repairing = { ...settings, nodeRepair: true };

/** The first of six nodes has not been ready since the beginning. */
function withSickNode(world: World): Ports {
  const lastTransitionAtMs = world.timeline.nowMs() - 31 * MINUTE;
  const bad = { type: 'Ready', status: 'False', reason: 'x', message: '' } as const;
  const read = reading(world.ports, (state) => {
    const [first, ...others] = state.objects.nodes;
    if (first === undefined) throw new Error('the world has no nodes');
    const sick = { ...first, conditions: [{ ...bad, lastTransitionAtMs }] };
    return { ...state, objects: { ...state.objects, nodes: [sick, ...others] } };
  });
  return withPorts(world.ports, { cluster: { read } });
}

function leaving(world: World) {
  return readState(world.store).objects.nodeClaims.filter((each) => each.deletedAtMs !== undefined);
}

it('an unhealthy node is replaced without a drain, where repair is on', async () => {
  const world = await runningWorld([spread('web', 6)]);
  await lifecycle(withSickNode(world), settings);
  expect(leaving(world)).toHaveLength(0);
  await lifecycle(withSickNode(world), repairing);
  expect(leaving(world)).toHaveLength(1);
  expect(leaving(world)[0]?.annotations[DEADLINE]).toBe(
    new Date(world.timeline.nowMs()).toISOString(),
  );
});

it('checks that EC2 does not tell are reported, and the pass goes on', async () => {
  const world = await runningWorld([spread('web', 1)]);
  const statuses = async (): Promise<never> => {
    throw new PortError('unauthorised', 'UnauthorizedOperation', 'no');
  };
  const ports = withPorts(world.ports, { compute: { statuses } });
  expect((await lifecycle(ports, settings)).failures).toEqual([
    { object: 'status checks of instances', message: 'UnauthorizedOperation: no' },
  ]);
  const memory = new LifecycleMemory(MINUTE);
  expect((await lifecycle(ports, settings, memory)).failures).toHaveLength(1);
  expect((await lifecycle(ports, settings, memory)).failures).toEqual([]);
});

const fails = async (): Promise<never> => {
  throw new PortError('unknown', 'ServiceUnavailable', 'try again');
};

it('a repair that was cut short leaves no deadline on a node that has recovered', async () => {
  const world = await runningWorld([spread('web', 6)]);
  const sick = withSickNode(world);
  const claims = () => readState(world.store).objects.nodeClaims;
  const marked = () => claims().filter(({ annotations }) => annotations[DEADLINE] !== undefined);
  await lifecycle(withPorts(sick, { cluster: { delete: fails } }), repairing);
  expect(marked()).toHaveLength(1);
  await world.run(world.timeline.nowMs() + 10 * MINUTE);
  expect(claims()).toHaveLength(6);
  expect(marked()).toEqual([]);
});

it('a node that does not join counts once, however often its claim could not be deleted', async () => {
  const world = await runningWorld([spread('web', 2)]);
  const lastTransitionAtMs = world.timeline.nowMs() - 16 * MINUTE;
  const said = { type: 'Launched', status: 'True', reason: 'Launched', message: '' } as const;
  const read = reading(world.ports, (state) => {
    const [first, ...others] = state.objects.nodeClaims;
    if (first === undefined) throw new Error('the world has no claims');
    const late = { ...first, conditions: [{ ...said, lastTransitionAtMs }], nodeName: undefined };
    const nodes = state.objects.nodes.filter(({ providerId }) => providerId !== first.providerId);
    return { ...state, objects: { ...state.objects, nodes, nodeClaims: [late, ...others] } };
  });
  const refused = withPorts(world.ports, { cluster: { read, delete: fails } });
  for (let pass = 0; pass < 6; pass += 1) await lifecycle(refused, settings);
  await lifecycle(withPorts(world.ports, { cluster: { read } }), settings);
  const failed = await world.ports.memory.failedRegistrations();
  expect(failed.get('default')?.count).toBe(1);
});
