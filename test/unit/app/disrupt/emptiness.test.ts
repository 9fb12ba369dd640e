import { describe, expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { conditionOf } from '../../../../shared/core/lifecycle/conditions.ts';
import { DO_NOT_DISRUPT, NODE_POOL_HASH } from '../../../../shared/core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../../../shared/core/model/provisioning.ts';
import type {
  ClusterEvent,
  ClusterState,
  DecisionRecord,
  Ports,
} from '../../../../shared/ports.ts';
import { type PortError, PortError as Refused } from '../../../../shared/ports.ts';
import { podOf } from '../../../builders/scheduling.ts';
import { overtaken, runningWorld, settings, spread, withPorts } from '../world.ts';

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
        message: 'The node is empty',
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
    expect(new Set(failures).size).toBe(1);
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

type Objects = ClusterState['objects'];

function withObjects(state: ClusterState, change: (objects: Objects) => Partial<Objects>) {
  return { ...state, objects: { ...state.objects, ...change(state.objects) } };
}

/** The pools as if they had these rules for disruption. */
function withRules(rules: Partial<NodePool['disruption']>) {
  return (state: ClusterState): ClusterState =>
    withObjects(state, ({ nodePools }) => ({
      nodePools: nodePools.map((pool) => ({
        ...pool,
        disruption: { ...pool.disruption, ...rules },
      })),
    }));
}

/** The claims as if their template had been another one. */
function drifted(state: ClusterState, isIt = (_: NodeClaim) => true): ClusterState {
  return withObjects(state, ({ nodeClaims }) => ({
    nodeClaims: nodeClaims.map((claim) =>
      isIt(claim)
        ? { ...claim, annotations: { ...claim.annotations, [NODE_POOL_HASH]: 'of-yesterday' } }
        : claim,
    ),
  }));
}

const budgetOf = (nodes: string) => [
  { nodes, reasons: undefined, schedule: undefined, durationMs: undefined },
];

describe('what is found at the second look', () => {
  const waiting = (unschedulable: boolean) => (state: ClusterState) =>
    withObjects(withoutPods(state), () => ({
      pods: [podOf('late', { cpu: 500 }, { unschedulable })],
    }));

  it.each<[string, (state: ClusterState) => ClusterState]>([
    ['a pod that waits', waiting(true)],
    ['a pod that kube-scheduler has not tried', waiting(false)],
    [
      'a pause',
      (state) => ({ ...withoutPods(state), pausedUntilMs: { disrupt: Number.POSITIVE_INFINITY } }),
    ],
    [
      'paused launches',
      (state) => ({ ...withoutPods(state), pausedUntilMs: { launch: Number.POSITIVE_INFINITY } }),
    ],
    ['another pool', (state) => withRules({ consolidateAfter: 'Never' })(withoutPods(state))],
    ['another budget', (state) => withRules({ budgets: budgetOf('0') })(withoutPods(state))],
  ])('keeps the node: %s', async (_, second) => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const { deleted } = await passOf(ports, [withoutPods, second]);
    expect(deleted).toEqual([]);
    expect(await held(ports)).toEqual([]);
  });
});

describe('together with drift', () => {
  it('a node that was opened again is left alone for the rest of the pass', async () => {
    const { ports } = await runningWorld([spread('web', 3)]);
    const first = (state: ClusterState) => drifted(withoutPods(state));
    const guarded = (state: ClusterState) =>
      withObjects(drifted(state), ({ pods }) => ({
        pods: pods.map((pod) => ({ ...pod, annotations: { [DO_NOT_DISRUPT]: 'true' } })),
      }));
    const { deleted } = await passOf(ports, [first, guarded]);
    expect(deleted).toEqual([]);
  });

  it('a drifted node that nothing replaces is looked at again, too', async () => {
    const { ports } = await runningWorld([spread('web', 2)]);
    const first = (state: ClusterState) =>
      drifted(withRules({ consolidateAfter: 'Never' })(withoutPods(state)));
    expect((await passOf(ports, [first])).deleted).toEqual([]);
    expect(await held(ports)).toEqual([]);
    const readNode: Ports['cluster']['readNode'] = async (name) => ({
      ...(await ports.cluster.readNode(name)),
      pods: [],
    });
    expect((await passOf(ports, [first], { readNode })).deleted).toHaveLength(2);
  });

  it('a node whose status cannot be written takes its part of the budget', async () => {
    const { ports } = await runningWorld([spread('web', 3)]);
    const { nodeClaims } = (await ports.cluster.read()).objects;
    const [busy] = nodeClaims.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    // One of the two idle nodes is spared for the pods of the drifted one.
    const one = (state: ClusterState) =>
      withObjects(
        drifted(withRules({ budgets: budgetOf('1') })(state), ({ uid }) => uid === busy?.uid),
        ({ pods }) => ({ pods: pods.filter(({ nodeName }) => nodeName === busy?.nodeName) }),
      );
    const patchNodeClaimStatus: Ports['cluster']['patchNodeClaimStatus'] = async (ref, patch) => {
      const text = JSON.stringify(patch.conditions?.([]) ?? []);
      if (text.includes('DisruptionReason'))
        throw new Refused('invalid', '422', 'a webhook refuses');
      return await ports.cluster.patchNodeClaimStatus(ref, patch);
    };
    const { deleted, failures } = await passOf(ports, [one], { patchNodeClaimStatus });
    expect(deleted).toEqual([]);
    expect(new Set(failures).size).toBe(1);
    const { nodes } = (await ports.cluster.read()).objects;
    expect(nodes.flatMap(({ taints }) => taints)).toEqual([]);
  });

  it('says once what holds for both', async () => {
    const { ports } = await runningWorld([spread('web', 2)]);
    const paused = (state: ClusterState): ClusterState => ({
      ...drifted(withoutPods(state)),
      pausedUntilMs: { disrupt: Number.POSITIVE_INFINITY },
    });
    const { decisions } = await passOf(ports, [paused]);
    expect(decisions.map(({ detail }) => detail['reason'])).toEqual(['disruptions-paused']);
  });
});

describe('removing many', () => {
  it('no more go at once than instances are ended in a minute', async () => {
    const { ports } = await runningWorld([spread('web', 5)]);
    const changed = withPorts(ports, {
      cluster: { read: async () => withoutPods(await ports.cluster.read()) },
    });
    const { deleted } = await disrupt(changed, { ...settings, terminationsPerMinuteMax: 3 });
    expect(deleted).toHaveLength(3);
    const { deleted: more } = await disrupt(changed, { ...settings, terminationsPerMinuteMax: 3 });
    expect(more).toEqual([]);
  });

  it('a claim that cannot be deleted keeps its node open', async () => {
    const { ports } = await runningWorld([spread('web', 2)]);
    const refuse = async (): Promise<never> => {
      throw new Refused('invalid', '422', 'a webhook refuses');
    };
    const { deleted, failures } = await passOf(ports, [withoutPods], { delete: refuse });
    expect(deleted).toEqual([]);
    expect(failures).toHaveLength(2);
    expect(await held(ports)).toEqual([]);
  });
});
