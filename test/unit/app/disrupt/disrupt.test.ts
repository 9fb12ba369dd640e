import { describe, expect, it } from 'vitest';
import { type DisruptReport, disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import type { ClusterEvent, ClusterState, ObjectRef, Ports } from '../../../../shared/ports.ts';
import { WORLD_START_MS } from '../../../../shared/sim/world.ts';
import { nodeClass, nodePool, smallWorld } from '../../../sim/small-world.ts';
import { MINUTE, runningWorld, settings, spread, withPorts } from '../world.ts';

/** As if the template had been another one when the claims were made. */
function withDrift(state: ClusterState): ClusterState {
  const nodeClaims = state.objects.nodeClaims.map((claim) => ({
    ...claim,
    annotations: { ...claim.annotations, 'karpenter.sh/nodepool-hash': 'of-yesterday' },
  }));
  const nodePools = state.objects.nodePools.map((pool) => ({
    ...pool,
    disruption: {
      ...pool.disruption,
      budgets: [{ nodes: '100%', reasons: undefined, schedule: undefined, durationMs: undefined }],
    },
  }));
  return { ...state, objects: { ...state.objects, nodePools, nodeClaims } };
}

interface Pass {
  readonly report: DisruptReport;
  readonly said: readonly ClusterEvent[];
}

async function passOf(
  ports: Ports,
  change: (state: ClusterState) => ClusterState = (state) => state,
  changes: Parameters<typeof withPorts>[1] = {},
): Promise<Pass> {
  const said: ClusterEvent[] = [];
  const cluster: Partial<Ports['cluster']> = {
    read: async () => change(withDrift(await ports.cluster.read())),
    event: async (event) => {
      said.push(event);
    },
    ...changes.cluster,
  };
  const report = await disrupt(withPorts(ports, { ...changes, cluster }), settings);
  return { report, said };
}

describe('a static NodePool whose launches are halted', () => {
  const counted = (ports: Ports, count: number): Partial<Ports['memory']> => {
    const failed = new Map([['default', { count, lastAtMs: ports.clock.nowMs() }]]);
    return { failedRegistrations: async () => failed };
  };

  it.each([
    [0, 1],
    [5, 0],
  ])('after %d failed launches gets %d replacements', async (count, replacements) => {
    const pool = nodePool(['on-demand'], { replicas: 3 });
    const { world } = await smallWorld([nodeClass, pool]);
    await world.run(WORLD_START_MS + 3 * MINUTE);
    const { ports } = world;
    const { report, said } = await passOf(ports, undefined, { memory: counted(ports, count) });
    expect(report.created).toHaveLength(replacements);
    const isSaid = said.some(({ message }) => message.startsWith('Launches of NodePool default'));
    expect(isSaid).toBe(count > 0);
  });
});

describe('a drifted node', () => {
  it('with a forgotten taint is opened, and not replaced by what was known of it before', async () => {
    const { ports } = await runningWorld([spread('web', 2)]);
    const { nodeClaims } = (await ports.cluster.read()).objects;
    const [first, second] = nodeClaims.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const effect = 'NoSchedule' as const;
    const tainted = (state: ClusterState): ClusterState => {
      const nodes = state.objects.nodes.map((node) =>
        node.providerId === first?.providerId
          ? { ...node, taints: [{ key: 'karpenter.sh/disrupted', value: '', effect }] }
          : node,
      );
      return { ...state, objects: { ...state.objects, nodes } };
    };
    const opened: string[] = [];
    const replaced: string[] = [];
    await passOf(ports, tainted, {
      cluster: {
        patchNode: async ({ name }, { taints }) => {
          if (taints?.length === 0) opened.push(name);
          return 'done';
        },
        patchNodeClaim: async ({ name }, { annotations }) => {
          if (annotations?.['joiner.dev/replaced-by'] !== undefined) replaced.push(name);
          return 'done';
        },
      },
    });
    expect(opened).toEqual([first?.nodeName]);
    expect(replaced).toEqual([second?.name]);
  });

  it('is tainted though its node changes all the time', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const read = async (): Promise<ClusterState> => {
      const state = withDrift(await ports.cluster.read());
      for (const { name } of state.objects.nodes) {
        await ports.cluster.patchNode({ kind: 'Node', name }, { labels: { beat: 'a' } });
      }
      return state;
    };
    await passOf(ports, undefined, { cluster: { read } });
    const { nodes } = (await ports.cluster.read()).objects;
    expect(nodes.flatMap(({ taints }) => taints.map(({ key }) => key))).toEqual([
      'karpenter.sh/disrupted',
    ]);
  });

  it('is not taken away while it waits, empty, for the node that it replaces', async () => {
    const { ports } = await runningWorld([spread('web', 2)]);
    let oldNode: string | undefined;
    const replacing = (state: ClusterState): ClusterState => {
      const { nodes } = state.objects;
      const [old, fresh] = state.objects.nodeClaims;
      if (old === undefined || fresh === undefined) throw new Error('the world has no two claims');
      const nodeClaims = [
        noted(old, { 'joiner.dev/replaced-by': fresh.name }),
        noted(fresh, { 'joiner.dev/replaces': old.uid }),
      ];
      oldNode = old.nodeName;
      const own = nodes.find(({ providerId }) => providerId === fresh.providerId);
      const pods = state.objects.pods.filter(({ nodeName }) => nodeName !== own?.name);
      return { ...state, objects: { ...state.objects, nodeClaims, pods } };
    };
    // The old node cannot be tainted in this pass: somebody else has just changed it.
    const patchNode = async ({ name }: ObjectRef) => (name === oldNode ? 'conflict' : 'done');
    const { report } = await passOf(ports, replacing, { cluster: { patchNode } });
    expect(report).toMatchObject({ created: [], deleted: [] });
  });
});

function byName(a: NodeClaim, b: NodeClaim): number {
  return a.name < b.name ? -1 : 1;
}

/** A node's pod of one CPU leaves room for another one; the last claims by name have not drifted. */
function roomy(state: ClusterState, current: number): ClusterState {
  const { objects } = state;
  const claims = objects.nodeClaims.toSorted(byName);
  const stay = new Set(claims.slice(claims.length - current).map(({ uid }) => uid));
  const drifted = withDrift(state).objects;
  const nodeClaims = drifted.nodeClaims.map(
    (claim) => objects.nodeClaims.find(({ uid }) => uid === claim.uid && stay.has(uid)) ?? claim,
  );
  const nodes = objects.nodes.map((node) => ({
    ...node,
    annotations: {},
    allocatable: { ...node.allocatable, cpu: 2500 },
    capacity: { ...node.capacity, cpu: 2500 },
  }));
  const pods = objects.pods.map((pod) => ({ ...pod, spec: { ...pod.spec, podAntiAffinity: [] } }));
  return { ...state, objects: { ...drifted, nodeClaims, nodes, pods } };
}

function inOther(labels: NodeClaim['labels']): NodeClaim['labels'] {
  return { ...labels, 'karpenter.sh/nodepool': 'other' };
}

/** Two pods of one CPU a node. */
const PLACES = 2;

describe('a cluster with room to spare', () => {
  it.each([
    [4, 1],
    [6, 2],
  ])(
    'of %d nodes, %d of them as they should be, keeps a place for each pod',
    async (count, current) => {
      const { ports } = await runningWorld([spread('web', count)]);
      const { report } = await passOf(ports, undefined, {
        cluster: { read: async () => roomy(await ports.cluster.read(), current) },
      });
      expect(report.failures).toEqual([]);
      expect(report.deleted.length).toBeGreaterThan(0);
      const left = count - report.deleted.length;
      expect((left + report.created.length) * PLACES).toBeGreaterThanOrEqual(count);
    },
  );

  it.each([
    [6, 2],
    [7, 3],
  ])(
    'of %d nodes, %d of them as they should be, keeps it while one is drained',
    async (count, current) => {
      const { ports } = await runningWorld([spread('web', count)]);
      const { report } = await passOf(ports, undefined, {
        cluster: {
          read: async () => {
            const state = roomy(await ports.cluster.read(), current);
            const [first, ...others] = state.objects.nodeClaims.toSorted(byName);
            if (first === undefined) throw new Error('the world has no claim');
            // Its pod runs there still.
            const nodeClaims = [{ ...first, deletedAtMs: ports.clock.nowMs() }, ...others];
            return { ...state, objects: { ...state.objects, nodeClaims } };
          },
        },
      });
      const left = count - 1 - report.deleted.length;
      expect((left + report.created.length) * PLACES).toBeGreaterThanOrEqual(count);
    },
  );

  it('has one place for a pod, not two, when a node goes so that something new is tried', async () => {
    const { ports } = await runningWorld([spread('web', 3)]);
    const { report } = await passOf(ports, undefined, {
      cluster: {
        read: async () => {
          const { objects, ...state } = roomy(await ports.cluster.read(), 1);
          // The first is of a pool of which no node has the new template, the others are not.
          const [first, ...others] = objects.nodeClaims.toSorted(byName);
          if (first === undefined) throw new Error('the world has no claim');
          const moved = others.map((claim) => ({ ...claim, labels: inOther(claim.labels) }));
          const nodes = objects.nodes.map((node) =>
            node.providerId === first.providerId ? node : { ...node, labels: inOther(node.labels) },
          );
          const nodePools = objects.nodePools.flatMap((pool) => [pool, { ...pool, name: 'other' }]);
          const nodeClaims = [first, ...moved];
          return { ...state, objects: { ...objects, nodePools, nodeClaims, nodes } };
        },
      },
    });
    expect(report.failures).toEqual([]);
    expect(report.deleted).toHaveLength(1);
    expect(report.created).toHaveLength(1);
  });

  it.each([20, 21, 30])(
    'of %d nodes is rolled: one goes so that something new is tried',
    async (count) => {
      const { ports } = await runningWorld([spread('web', count)]);
      const { report } = await passOf(ports, undefined, {
        cluster: { read: async () => roomy(await ports.cluster.read(), 0) },
      });
      expect(report).toMatchObject({ created: [], failures: [] });
      expect(report.deleted).toHaveLength(1);
    },
  );
});

function noted(claim: NodeClaim, annotations: NodeClaim['annotations']): NodeClaim {
  return { ...claim, annotations: { ...claim.annotations, ...annotations } };
}
