import { describe, expect, it } from 'vitest';
import { ConsolidationMemory } from '../../../../shared/app/disrupt/consolidation-memory.ts';
import { type DisruptOptions, disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { sentences } from '../../../../shared/core/explain/reason.ts';
import type { ClusterEvent } from '../../../../shared/ports.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { reading, runningWorld, settings, spread, withPorts } from '../world.ts';

/** What one pass says of nodes that stay, and what it knows of them. */
async function passOf({ ports }: Pick<World, 'ports'>, options: DisruptOptions = {}) {
  const said: ClusterEvent[] = [];
  const event = async (each: ClusterEvent): Promise<void> => {
    if (each.reason === 'Unconsolidatable') said.push(each);
  };
  const { kept } = await disrupt(withPorts(ports, { cluster: { event } }), settings, options);
  return { said, kept };
}

const ONE_NODE_EACH = 'The pods of the node would not run cheaper on other nodes';

describe('nodes that stay', () => {
  it('say why, with their claims', async () => {
    const { said } = await passOf(await runningWorld([spread('web', 2)]));
    const kinds = said.map(({ regarding }) => regarding.kind).sort();
    expect(kinds).toEqual(['Node', 'Node', 'NodeClaim', 'NodeClaim']);
    expect(new Set(said.map(({ message }) => message)).size).toBe(1);
  });

  it('say it once, whatever the number of passes', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const memory = new ConsolidationMemory();
    expect((await passOf(world, { memory })).said).toHaveLength(4);
    expect((await passOf(world, { memory })).said).toEqual([]);
    expect((await passOf(world)).said).toHaveLength(4);
  });

  it('say it ten at a time', async () => {
    const world = await runningWorld([spread('web', 25)]);
    const memory = new ConsolidationMemory();
    const counts: number[] = [];
    for (let pass = 0; pass < 4; pass++) counts.push((await passOf(world, { memory })).said.length);
    expect(counts).toEqual([20, 20, 10, 0]);
  });

  it('are known one by one to whoever asks, in a cluster of any size', async () => {
    const world = await runningWorld([spread('web', 40)]);
    const { nodeClaims } = (await world.ports.cluster.read()).objects;
    for (const { name } of nodeClaims) {
      expect(sentences((await passOf(world, { asked: name })).kept.get(name) ?? [])).toBe(
        ONE_NODE_EACH,
      );
    }
  });

  it('do not say it again as other nodes take pods in or do not', async () => {
    const world = await runningWorld([spread('web', 3)]);
    const memory = new ConsolidationMemory();
    expect((await passOf(world, { memory })).said).toHaveLength(6);
    const read = reading(world.ports, (state) => {
      // A pod has just come to the node, which so takes none in.
      const [first, ...others] = state.objects.pods;
      if (first === undefined) throw new Error('the world has no pods');
      const pods = [{ ...first, startedAtMs: world.timeline.nowMs() }, ...others];
      const nodePools = state.objects.nodePools.map((pool) => ({
        ...pool,
        disruption: { ...pool.disruption, consolidateAfter: 60_000 },
      }));
      return { ...state, objects: { ...state.objects, pods, nodePools } };
    });
    const ports = withPorts(world.ports, { cluster: { read } });
    const { said, kept } = await passOf({ ports }, { memory });
    const texts = [...kept.values()].map(sentences);
    expect(texts.some((text) => text.includes('a node whose pods changed'))).toBe(true);
    expect(said).toEqual([]);
  });
});
