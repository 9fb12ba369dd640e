import { describe, expect, it } from 'vitest';
import { withUnavailable } from '../../../../shared/app/instance-types/available-types.ts';
import { withObservedMemory } from '../../../../shared/app/instance-types/observed-allocatable.ts';
import { resolveTypes } from '../../../../shared/app/planning/provisioning-input.ts';
import type { InstanceType } from '../../../../shared/core/model/instance-type.ts';
import type { NodeOverlay } from '../../../../shared/core/model/provisioning.ts';
import type { UnavailableOffering } from '../../../../shared/ports.ts';
import { deployment } from '../../../sim/small-world.ts';
import { runningWorld } from '../world.ts';

/** A list of the same types that no pass has seen before. */
function anew(types: readonly InstanceType[]): readonly InstanceType[] {
  return types.map((each) => ({ ...each }));
}

async function scene() {
  const world = await runningWorld([deployment('web', 1, '1')]);
  const state = await world.ports.cluster.read();
  const [nodeClass] = state.nodeClasses;
  const [nodePool] = state.objects.nodePools;
  if (nodeClass === undefined || nodePool === undefined) throw new Error();
  const types = await world.ports.catalog.instanceTypes(nodeClass);
  const resolve = (nodeOverlays: readonly NodeOverlay[]) =>
    resolveTypes(world.ports, world.settings, {
      ...state,
      objects: { ...state.objects, nodePools: [{ ...nodePool }], nodeOverlays },
    });
  return { world, nodeClass, types, resolve };
}

function overlay(price: number): NodeOverlay {
  const priceChange = { kind: 'absolute', price } as const;
  const own = { name: 'half', weight: 1, requirements: [], capacity: {} };
  return { ...own, priceChange, invalid: undefined };
}

function barring(bar: UnavailableOffering) {
  return { barred: [bar], fullSubnets: new Set<string>(), shiftedZones: new Set<string>() };
}

describe('what can be launched', () => {
  it('is the same list in each pass that finds the same', async () => {
    const { resolve } = await scene();
    const [first, second] = [await resolve([overlay(1)]), await resolve([overlay(1)])];
    expect(second.instanceTypes).toBe(first.instanceTypes);
  });

  it('is another list as soon as an overlay is, and the former again with the former', async () => {
    const { resolve } = await scene();
    const [none, one, two] = [
      await resolve([]),
      await resolve([overlay(1)]),
      await resolve([overlay(2)]),
    ];
    const prices = [none, one, two].map(
      ({ instanceTypes }) => [...instanceTypes.values()][0]?.[0]?.offerings[0]?.price,
    );
    expect(prices.slice(1)).toEqual([1, 2]);
    expect(prices[0]).not.toBe(1);
    expect((await resolve([overlay(1)])).instanceTypes).toBe(one.instanceTypes);
  });

  it.each([[0], [1], [2]])(
    'has what was learnt last, as if it were worked out anew (%i)',
    async (turn) => {
      const { nodeClass, types } = await scene();
      for (const less of [turn, turn + 1, turn]) {
        const learnt = (name: string, _: string, bytes: number) =>
          name.startsWith('m') ? bytes - less * 1024 : bytes;
        const found = withObservedMemory(types, nodeClass, learnt);
        expect(found).toEqual(withObservedMemory(anew(types), nodeClass, learnt));
        expect(withObservedMemory(types, nodeClass, learnt)).toBe(found);
      }
    },
  );

  it('lacks what is barred now, and no longer what was', async () => {
    const { nodeClass, types } = await scene();
    const [first] = types;
    const [offering] = first?.offerings ?? [];
    if (first === undefined || offering === undefined) throw new Error();
    const { zone, capacityType } = offering;
    const bar = {
      instanceType: first.name,
      zone,
      capacityType,
      kind: 'shortage',
      markedAtMs: 0,
      untilMs: 10,
      reason: 'ICE',
    } as const;
    const barred = withUnavailable(types, nodeClass, barring(bar), 0);
    expect(barred[0]?.offerings[0]?.available).toBe(false);
    expect(withUnavailable(types, nodeClass, barring(bar), 5)).toBe(barred);
    expect(withUnavailable(types, nodeClass, barring(bar), 10)).toBe(types);
  });
});
