import { describe, expect, it } from 'vitest';
import { readAvailableTypes } from '../../../../shared/app/instance-types/available-types.ts';
import {
  recordAllocatable,
  withObservedMemory,
} from '../../../../shared/app/instance-types/observed-allocatable.ts';
import { allocatable } from '../../../../shared/core/instance-types/allocatable.ts';
import { nodeClassHash } from '../../../../shared/core/launch/template-hash.ts';
import type { InstanceType } from '../../../../shared/core/model/instance-type.ts';
import { NODE_CLASS_HASH } from '../../../../shared/core/model/labels.ts';
import { deployment } from '../../../sim/small-world.ts';
import { runningWorld } from '../world.ts';

const GIB = 1024 ** 3;

async function initialized() {
  const world = await runningWorld([deployment('web', 1, '1')]);
  const state = await world.ports.cluster.read();
  const [nodeClass] = state.nodeClasses;
  const [claim] = state.objects.nodeClaims;
  const [node] = state.objects.nodes;
  if (nodeClass === undefined || claim === undefined || node === undefined) throw new Error();
  const name = node.labels['node.kubernetes.io/instance-type'] ?? '';
  return { world, state, nodeClass, claim, node, name };
}

function memoryOf(types: readonly InstanceType[], name: string): number | undefined {
  const type = types.find((each) => each.name === name);
  const offering = type?.offerings[0];
  return type && offering && allocatable(type, offering)['memory'];
}

describe('memory that nodes turned out to have', () => {
  it('is learnt when a node is initialised', async () => {
    const { world, claim, node, name } = await initialized();
    const learnt = await world.ports.memory.allocatable();
    expect(learnt(name, claim.imageId ?? '', 1)).toBe(node.allocatable['memory']);
    expect(learnt('m7g.large', 'ami-other', 1)).toBe(1);
  });

  it('is what the next plan counts on, for that type and image alone', async () => {
    const { world, state, nodeClass, claim, node, name } = await initialized();
    const before =
      (await readAvailableTypes(world.ports, state, world.settings.scheduling)).byNodeClass.get(
        'default',
      ) ?? [];
    const bytes = (memoryOf(before, name) ?? 0) - GIB / 4;
    const seen = { ...node, allocatable: { ...node.allocatable, memory: bytes } };
    await recordAllocatable(world.ports, nodeClass, claim, seen);
    const after =
      (await readAvailableTypes(world.ports, state, world.settings.scheduling)).byNodeClass.get(
        'default',
      ) ?? [];
    expect(memoryOf(after, name)).toBe(bytes);
    const others = (types: readonly InstanceType[]) => types.filter((each) => each.name !== name);
    expect(others(after)).toEqual(others(before));
  });

  it('has the hugepages of that node added', async () => {
    const { world, nodeClass, claim, node, name } = await initialized();
    const capacity = { ...node.capacity, 'hugepages-1Gi': GIB };
    const left = { ...node.allocatable, memory: GIB };
    await recordAllocatable(world.ports, nodeClass, claim, {
      ...node,
      capacity,
      allocatable: left,
    });
    const learnt = await world.ports.memory.allocatable();
    expect(learnt(name, claim.imageId ?? '', 0)).toBe(2 * GIB);
  });

  it('is that of nodes with the same user data, which may reserve some', async () => {
    const { world, state, nodeClass, claim, node, name } = await initialized();
    const types = await world.ports.catalog.instanceTypes(nodeClass);
    const computed = memoryOf(types, name) ?? 0;
    const userData = '[settings.kubernetes.system-reserved]\nmemory = "256Mi"\n';
    const own = { ...nodeClass, spec: { ...nodeClass.spec, userData } };
    const bytes = computed - GIB / 4;
    const seen = { ...node, allocatable: { ...node.allocatable, memory: bytes } };
    const started = { ...claim, annotations: { [NODE_CLASS_HASH]: nodeClassHash(own) } };
    await recordAllocatable(world.ports, own, started, seen);
    const learnt = await world.ports.memory.allocatable();
    expect(memoryOf(withObservedMemory(types, own, learnt), name)).toBe(bytes);
    const others = memoryOf(withObservedMemory(types, state.nodeClasses[0] ?? own, learnt), name);
    expect(others).toBe(node.allocatable['memory']);
  });

  it('is not learnt from a node that was started before its class was changed', async () => {
    const { world, nodeClass, claim, node, name } = await initialized();
    const kubelet = { systemReserved: { memory: '1Gi' } };
    const before = { ...nodeClass, spec: { ...nodeClass.spec, kubelet } };
    const started = { ...claim, annotations: { [NODE_CLASS_HASH]: nodeClassHash(before) } };
    const seen = { ...node, allocatable: { ...node.allocatable, memory: GIB } };
    await recordAllocatable(world.ports, nodeClass, started, seen);
    const learnt = await world.ports.memory.allocatable();
    expect(learnt(name, claim.imageId ?? '', 1)).toBe(node.allocatable['memory']);
  });

  it('does not count where the class has kubelet settings of its own', async () => {
    const { world, nodeClass, state } = await initialized();
    const types =
      (await readAvailableTypes(world.ports, state, world.settings.scheduling)).byNodeClass.get(
        'default',
      ) ?? [];
    const own = { ...nodeClass, spec: { ...nodeClass.spec, kubelet: { maxPods: 20 } } };
    expect(withObservedMemory(types, own, () => 1)).toBe(types);
    expect(withObservedMemory(types, nodeClass, () => 1)).not.toEqual(types);
  });
});
