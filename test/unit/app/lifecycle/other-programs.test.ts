import { describe, expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { provision } from '../../../../shared/app/provision/provision.ts';
import type { NodeClassReference } from '../../../../shared/core/model/provisioning.ts';
import type { ClusterState, Ports } from '../../../../shared/ports.ts';
import { deployment } from '../../../sim/small-world.ts';
import { runningWorld, settings, withPorts } from '../world.ts';

const AUTO_MODE: NodeClassReference = {
  group: 'eks.amazonaws.com',
  kind: 'NodeClass',
  name: 'default',
};

/** As if the pool and its claims were EKS Auto Mode's, the nodes tainted and unlike their pool. */
function asAutoMode(state: ClusterState): ClusterState {
  const { objects } = state;
  const effect = 'NoSchedule' as const;
  return {
    ...state,
    objects: {
      ...objects,
      nodePools: objects.nodePools.map((pool) => ({
        ...pool,
        annotations: {},
        conditions: [],
        template: { ...pool.template, nodeClassRef: AUTO_MODE },
      })),
      nodeClaims: objects.nodeClaims.map((claim) => ({
        ...claim,
        annotations: { 'karpenter.sh/nodepool-hash': 'auto' },
        nodeClassRef: AUTO_MODE,
      })),
      nodes: objects.nodes.map((node) => ({
        ...node,
        taints: [...node.taints, { key: 'karpenter.sh/disrupted', value: '', effect }],
      })),
    },
  };
}

/** None launched: an instance of another program's claim is not ours to make. */
function notLaunched(state: ClusterState): ClusterState {
  const nodeClaims = state.objects.nodeClaims.map((claim) => ({ ...claim, providerId: undefined }));
  return { ...state, objects: { ...state.objects, nodeClaims } };
}

/** Its nodes are open, and a pod waits that has room there. */
function relied(state: ClusterState): ClusterState {
  const { objects } = state;
  const [pod] = objects.pods;
  if (pod === undefined) throw new Error('the world has no pod');
  const waiting = {
    ...pod,
    name: 'waits',
    uid: 'uid-waits',
    nodeName: undefined,
    unschedulable: true,
  };
  const spec = { ...pod.spec, requests: { cpu: 100 } };
  const pods = [...objects.pods, { ...waiting, phase: 'Pending' as const, spec }];
  const nodes = objects.nodes.map((node) => ({ ...node, taints: [] }));
  return { ...state, objects: { ...objects, nodes, pods } };
}

/** What is written about objects of these kinds. */
async function writesOf(
  run: (ports: Ports) => Promise<unknown>,
  change: (state: ClusterState) => ClusterState = (state) => state,
  as = asAutoMode,
): Promise<readonly string[]> {
  const world = await runningWorld([deployment('web', 2, '1')]);
  const writes: string[] = [];
  const noted =
    (name: string) =>
    async (ref: { readonly kind: string }): Promise<'done'> => {
      writes.push(`${name} ${ref.kind}`);
      return 'done';
    };
  const { cluster } = world.ports;
  const ports = withPorts(world.ports, {
    cluster: {
      read: async () => change(as(await cluster.read())),
      patchNode: noted('patchNode'),
      patchNodePool: noted('patchNodePool'),
      patchNodePoolStatus: noted('patchNodePoolStatus'),
      patchNodeClaim: noted('patchNodeClaim'),
      patchNodeClaimStatus: noted('patchNodeClaimStatus'),
      delete: noted('delete'),
    },
    // As if all instances were gone, as those of Auto Mode are that are not listed.
    compute: { list: async () => [] },
  });
  await run(ports);
  return writes;
}

describe('NodePools and NodeClaims of another program', () => {
  it('are left alone by disrupt', async () => {
    expect(await writesOf((ports) => disrupt(ports, settings))).toEqual([]);
  });

  it('have no status written by provision', async () => {
    expect(await writesOf((ports) => provision(ports, settings))).toEqual([]);
  });

  it('have nothing written on their nodes that a plan relies on, as ours have', async () => {
    const run = (ports: Ports) => provision(ports, settings);
    expect(await writesOf(run, relied)).toEqual([]);
    expect(await writesOf(run, relied, (state) => state)).toEqual(['patchNode Node']);
  });

  it('are not launched, and not given up', async () => {
    expect(await writesOf((ports) => provision(ports, settings), notLaunched)).toEqual([]);
  });

  it('are not ended although none of their instances is listed', async () => {
    expect(await writesOf((ports) => lifecycle(ports, settings))).toEqual([]);
  });
});
