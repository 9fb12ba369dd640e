import { describe, expect, it } from 'vitest';
import { disrupt } from '../../../shared/app/disrupt.ts';
import { conditionOf } from '../../../shared/core/lifecycle/conditions.ts';
import type { ClusterEvent, ClusterState, DecisionRecord, Ports } from '../../../shared/ports.ts';
import { type PortError, PortError as Refused } from '../../../shared/ports.ts';
import { overtaken, runningWorld, settings, spread, withPorts } from './world.ts';

/** As if the pods had gone, and budgets let all nodes go. */
function withoutPods(state: ClusterState): ClusterState {
  const nodePools = state.objects.nodePools.map((pool) => ({
    ...pool,
    disruption: { ...pool.disruption, budgets: [] },
  }));
  return { ...state, objects: { ...state.objects, nodePools, pods: [] } };
}

interface Pass {
  readonly deleted: readonly string[];
  readonly failures: readonly string[];
  readonly said: readonly ClusterEvent[];
  readonly decisions: readonly DecisionRecord[];
}

async function passOf(
  ports: Ports,
  states: readonly ((state: ClusterState) => ClusterState)[],
  cluster: Partial<Ports['cluster']> = {},
): Promise<Pass> {
  const said: ClusterEvent[] = [];
  const decisions: DecisionRecord[] = [];
  let reads = 0;
  const read = async (): Promise<ClusterState> => {
    const change = states[Math.min(reads, states.length - 1)];
    reads += 1;
    const state = await ports.cluster.read();
    return change?.(state) ?? state;
  };
  const event = async (each: ClusterEvent): Promise<void> => {
    said.push(each);
  };
  const recorder: Ports['recorder'] = {
    decision: async (record) => {
      decisions.push(record);
    },
    count: () => undefined,
  };
  const changed = withPorts(ports, { cluster: { read, event, ...cluster } });
  const { deleted, failures } = await disrupt({ ...changed, recorder }, settings);
  return { deleted, failures: failures.map(({ object }) => object), said, decisions };
}

const asItIs = (state: ClusterState): ClusterState => state;

async function held(ports: Ports): Promise<readonly string[]> {
  const { nodes, nodeClaims } = (await ports.cluster.read()).objects;
  return [
    ...nodes.filter(({ taints }) => taints.length > 0).map(({ name }) => name),
    ...nodeClaims.filter((claim) => conditionOf(claim, 'DisruptionReason')).map(({ name }) => name),
  ];
}

describe('a node that was seen empty', () => {
  it('goes, and its record says why', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const { deleted, said, decisions } = await passOf(ports, [withoutPods]);
    expect(deleted).toHaveLength(1);
    expect(said.map(({ message }) => message)).toContain('Disrupting Node: Empty');
    expect(decisions).toMatchObject([
      {
        useCase: 'disrupt',
        action: 'delete',
        object: `NodeClaim/${deleted[0]}`,
        message: 'Nothing runs on its node',
        detail: { reason: 'empty', nodePool: 'default' },
      },
    ]);
  });

  it('and to which a pod was bound meanwhile stays, and takes pods again', async () => {
    const { ports } = await runningWorld([spread('web', 3)]);
    const { deleted } = await passOf(ports, [withoutPods, asItIs]);
    expect(deleted).toEqual([]);
    expect(await held(ports)).toEqual([]);
  });

  it('and that could not be tainted stays', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const refuse = async (): Promise<never> => {
      throw refusal;
    };
    const refusal: PortError = new Refused('invalid', '422', 'a webhook refuses');
    const { deleted, failures } = await passOf(ports, [withoutPods], { patchNode: refuse });
    expect(deleted).toEqual([]);
    expect(failures).toHaveLength(1);
  });

  it('and that changed while it was tainted stays', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const changed = async () => 'conflict' as const;
    const { deleted } = await passOf(ports, [withoutPods], { patchNode: changed });
    expect(deleted).toEqual([]);
  });

  it('stays where Karpenter comes up while it is tainted', async () => {
    const { ports } = await runningWorld([spread('web', 2)]);
    const read = async (): Promise<ClusterState> => withoutPods(await ports.cluster.read());
    const empty = withPorts(ports, { cluster: { read } });
    const { ports: shared, writes, isUp } = overtaken(empty, 'patchNodeClaimStatus');
    const { deleted } = await disrupt(shared, settings);
    expect(isUp()).toBe(true);
    expect(deleted).toEqual([]);
    expect(writes).not.toContain('delete');
  });

  it('is opened again where the run ended after the taint', async () => {
    const { ports } = await runningWorld([spread('web', 2)]);
    const reads = { count: 0 };
    const read = async (): Promise<ClusterState> => {
      reads.count += 1;
      if (reads.count > 1) throw new Error('the process ends');
      return withoutPods(await ports.cluster.read());
    };
    const ended = disrupt(withPorts(ports, { cluster: { read } }), settings);
    await expect(ended).rejects.toThrow('the process ends');
    expect(await held(ports)).toHaveLength(4);
    const { deleted } = await passOf(ports, [asItIs]);
    expect(deleted).toEqual([]);
    expect(await held(ports)).toEqual([]);
  });
});
