import { expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../../shared/app/lifecycle/memory.ts';
import { instanceIdOf } from '../../../../shared/core/lifecycle/actions.ts';
import { PortError, type Ports } from '../../../../shared/ports.ts';
import { MINUTE, reading, runningWorld, settings, spread, withPorts } from '../world.ts';

it('instances without a NodeClaim are ended, with their nodes, though one is protected', async () => {
  const world = await runningWorld([spread('web', 3)]);
  await world.run(world.timeline.nowMs() + MINUTE);
  const read = reading(world.ports, (state) => ({
    ...state,
    objects: { ...state.objects, nodeClaims: [] },
  }));
  const { nodes } = (await world.ports.cluster.read()).objects;
  const [kept = ''] = nodes.flatMap(({ providerId }) => instanceIdOf(providerId) ?? []).sort();
  const ended = new Set<string>();
  const deleted: string[] = [];
  const compute: Partial<Ports['compute']> = {
    terminate: async (ids) => {
      for (const id of ids) if (id !== kept) ended.add(id);
      if (!ids.includes(kept)) return;
      throw new PortError('unknown', 'OperationNotPermitted', 'disableApiTermination');
    },
    list: async () => (await world.ports.compute.list()).filter(({ id }) => !ended.has(id)),
  };
  const remove: Ports['cluster']['delete'] = async ({ name }) => {
    deleted.push(name);
    return 'done';
  };
  const memory = new LifecycleMemory();
  const ports = withPorts(world.ports, { cluster: { read, delete: remove }, compute });
  const { failures } = await lifecycle(ports, settings, memory);
  expect([ended.size, deleted.length]).toEqual([2, 2]);
  expect(memory.terminations(world.timeline.nowMs())).toBe(2);
  expect(failures.map(({ object }) => object)).toEqual([`Instance/${kept}`]);
});

it('an instance that another sandbox has ended with its claim is not ended again', async () => {
  const world = await runningWorld([spread('web', 2)]);
  await world.run(world.timeline.nowMs() + MINUTE);
  const { nodeClaims } = (await world.ports.cluster.read()).objects;
  const gone = nodeClaims[0];
  const goneId = instanceIdOf(gone?.providerId);
  let isGone = false;
  const read = reading(world.ports, (state) => {
    const left = state.objects.nodeClaims.filter(({ name }) => !isGone || name !== gone?.name);
    return { ...state, objects: { ...state.objects, nodeClaims: left } };
  });
  const terminated: string[] = [];
  const compute: Partial<Ports['compute']> = {
    terminate: async (ids) => {
      terminated.push(...ids);
    },
    list: async () =>
      (await world.ports.compute.list()).filter(({ id }) => !isGone || id !== goneId),
  };
  const ports = withPorts(world.ports, { cluster: { read }, compute });
  const memory = new LifecycleMemory();
  await lifecycle(ports, settings, memory);
  isGone = true;
  await lifecycle(ports, settings, memory);
  expect(terminated).toEqual([]);
});
