import { describe, expect, it } from 'vitest';
import { candidatesOf } from '../../shared/core/comparison/cluster-at-rest.ts';
import { joinersWay } from '../../shared/core/comparison/joiners-way.ts';
import { karpentersWay, type WayInput } from '../../shared/core/comparison/karpenters-way.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../shared/core/disruption/consolidation/payback.ts';
import {
  CAPACITY_TYPE,
  DO_NOT_DISRUPT,
  INSTANCE_TYPE,
  NODE_POOL,
  ZONE,
} from '../../shared/core/model/labels.ts';
import type { Pod } from '../../shared/core/model/pod.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../shared/core/model/snapshot.ts';
import { claimOf, nodeOf, podOf, poolOf, snapshotOf } from '../builders/scheduling.ts';

interface Running {
  readonly pods?: readonly Pod[];
  readonly capacityType?: 'on-demand' | 'spot';
}

/** A pod that runs on the node; cpu in cores. */
function on(node: string, cpu: number, rest: Partial<Pod> = {}): Pod {
  return podOf(`on-${node}-${cpu}`, { cpu: cpu * 1000 }, { nodeName: node, ...rest });
}

/** Nodes of type m.xlarge (4 vCPU, $0.2) of the pool `general`, with what runs on them. */
function clusterOf(
  nodes: Readonly<Record<string, Running>>,
  pool: Partial<NodePool> = {},
  waiting: readonly Pod[] = [],
): ClusterSnapshot {
  const labelsOf = ({ capacityType = 'on-demand' }: Running) => ({
    [NODE_POOL]: 'general',
    [INSTANCE_TYPE]: 'm.xlarge',
    [ZONE]: 'zone-a',
    [CAPACITY_TYPE]: capacityType,
  });
  const all = Object.entries(nodes);
  const conditions = (['Launched', 'Registered', 'Initialized'] as const).map((type) => {
    return { type, status: 'True' as const, reason: type, message: '', lastTransitionAtMs: 0 };
  });
  const types = [...new Set(all.map(([, { capacityType = 'on-demand' }]) => capacityType))];
  const requirements = [{ key: CAPACITY_TYPE, operator: 'In' as const, values: types }];
  return snapshotOf({
    nodePools: [poolOf('general', { requirements, ...pool })],
    nodes: all.map(([name, each]) => nodeOf(name, 4, 16, { labels: labelsOf(each) })),
    nodeClaims: all.map(([name, each]) =>
      claimOf(`claim-${name}`, {
        labels: labelsOf(each),
        nodeName: name,
        providerId: `aws:///zone-a/${name}`,
        conditions,
      }),
    ),
    pods: [...all.flatMap(([, { pods = [] }]) => pods), ...waiting],
  });
}

function input(snapshot: ClusterSnapshot, plansMax = 100): WayInput {
  return { snapshot, scheduling: DEFAULT_SCHEDULING_SETTINGS, nowMs: 0, plansMax };
}

/** Nodes, USD an hour, pods evicted. */
function outcome({ snapshot, evictions }: ReturnType<typeof karpentersWay>) {
  const candidates = candidatesOf(snapshot);
  const price = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  return { nodes: snapshot.nodes.length, price: Number(price.toFixed(4)), evictions };
}

const ways = {
  Karpenter: (snapshot: ClusterSnapshot) => outcome(karpentersWay(input(snapshot))),
  Joiner: (snapshot: ClusterSnapshot) =>
    outcome(joinersWay(input(snapshot), DEFAULT_CONSOLIDATION_SETTINGS)),
};

describe.each(Object.entries(ways))('%s’s way', (_, way) => {
  it('removes what is empty, and evicts nobody for it', () => {
    const snapshot = clusterOf({ a: { pods: [on('a', 3)] }, b: {} });
    expect(way(snapshot)).toEqual({ nodes: 1, price: 0.2, evictions: 0 });
  });

  it('moves pods where others have room', () => {
    const snapshot = clusterOf({ a: { pods: [on('a', 2)] }, b: { pods: [on('b', 1)] } });
    expect(way(snapshot)).toEqual({ nodes: 1, price: 0.2, evictions: 1 });
  });

  it('puts a cheaper node in the place of one that is too large', () => {
    const snapshot = clusterOf({ a: { pods: [on('a', 1)] } });
    expect(way(snapshot)).toEqual({ nodes: 1, price: 0.1, evictions: 1 });
  });

  it('leaves what is full', () => {
    const snapshot = clusterOf({ a: { pods: [on('a', 4)] }, b: { pods: [on('b', 4)] } });
    expect(way(snapshot)).toEqual({ nodes: 2, price: 0.4, evictions: 0 });
  });

  it('leaves a node with a pod that may not be disrupted', () => {
    const annotations = { [DO_NOT_DISRUPT]: 'true' };
    const held = { pods: [on('a', 1, { annotations })] };
    expect(way(clusterOf({ a: held }))).toEqual({ nodes: 1, price: 0.2, evictions: 0 });
  });

  it('takes only empty nodes where the pool says WhenEmpty', () => {
    const disruption = {
      ...poolOf('general').disruption,
      consolidationPolicy: 'WhenEmpty' as const,
    };
    const snapshot = clusterOf({ a: { pods: [on('a', 1)] }, b: {} }, { disruption });
    expect(way(snapshot)).toEqual({ nodes: 1, price: 0.2, evictions: 0 });
  });

  it('puts no spot node in the place of a spot node', () => {
    const snapshot = clusterOf({ a: { pods: [on('a', 1)], capacityType: 'spot' } });
    expect(way(snapshot)).toEqual({ nodes: 1, price: 0.08, evictions: 0 });
  });

  it('fills nodes that are there with what waits', () => {
    const snapshot = clusterOf({ a: { pods: [on('a', 2)] } }, {}, [podOf('new', { cpu: 1500 })]);
    expect(way(snapshot)).toEqual({ nodes: 1, price: 0.2, evictions: 0 });
  });
});

describe('a bound on plans', () => {
  it('is said to have ended the search', () => {
    const nodes = Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, { pods: [on(name, 3)] }]),
    );
    expect(karpentersWay(input(clusterOf(nodes), 1)).isExhausted).toBe(false);
    expect(karpentersWay(input(clusterOf(nodes))).isExhausted).toBe(true);
  });
});
