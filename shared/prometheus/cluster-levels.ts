import {
  allowedDisruptions,
  isCounted,
  type PoolNodes,
  usesBudgets,
} from '../core/disruption/budgets.ts';
import { returnTermsOf } from '../core/disruption/first-choice.ts';
import { nodeOfClaim } from '../core/model/joins.ts';
import { isLive, type Pod } from '../core/model/pod.ts';
import {
  BUDGET_REASONS,
  DISRUPTION_REASONS,
  type DisruptionReason,
  type NodePool,
} from '../core/model/provisioning.ts';
import { addResources, NO_RESOURCES, type Resources } from '../core/model/resources.ts';
import type { ClusterView } from '../ports/metrics.ts';
import { conditionLevels } from './condition-levels.ts';
import { nodeLevels, sizeOf } from './node-levels.ts';
import { podLevels } from './pod-levels.ts';
import type { Level } from './series.ts';

export interface LevelOptions {
  readonly nowMs: number;
  readonly version: string;
  /** Whether there are series of each pod. */
  readonly perPod: boolean;
  /** Uids of pods that have not been ready yet. */
  readonly starting: ReadonlySet<string>;
}

/** What the cluster is like now, in Karpenter's gauges; from what was read, and nothing else. */
export function clusterLevels(view: ClusterView, options: LevelOptions): readonly Level[] {
  const { nowMs, version, perPod, starting } = options;
  return [
    { name: 'karpenter_build_info', labels: { version }, value: 1 },
    { name: 'karpenter_cluster_state_synced', labels: {}, value: 1 },
    { name: 'karpenter_cluster_state_node_count', labels: {}, value: view.nodes.length },
    ...utilization(view),
    ...view.nodePools.flatMap((pool) => poolLevels(view, pool, nowMs)),
    ...nodeLevels(view, nowMs),
    ...(perPod ? podLevels(view, starting, nowMs) : []),
    ...conditionLevels(view, nowMs),
  ];
}

/** Requests of the pods on nodes, in percent of what the nodes have. */
function utilization({ nodes, pods }: ClusterView): readonly Level[] {
  const sum = (all: readonly Resources[]): Resources => all.reduce(addResources, NO_RESOURCES);
  const had = sum(nodes.map(({ allocatable }) => allocatable));
  const names = new Set(nodes.map(({ name }) => name));
  const isOnNode = ({ nodeName }: Pod): boolean => nodeName !== undefined && names.has(nodeName);
  const used = sum(
    pods.filter((pod) => isLive(pod) && isOnNode(pod)).map((pod) => pod.spec.requests),
  );
  return ['cpu', 'memory'].flatMap((resource) => {
    const all = had[resource] ?? 0;
    if (all === 0) return [];
    const labels = { resource_type: resource };
    const value = (100 * (used[resource] ?? 0)) / all;
    return [{ name: 'karpenter_cluster_utilization_percent', labels, value }];
  });
}

function poolLevels(view: ClusterView, pool: NodePool, nowMs: number): readonly Level[] {
  const nodepool = pool.name;
  const amounts = (name: string, resources: Resources): readonly Level[] =>
    Object.entries(resources).map(([resource_type, amount]) => ({
      name,
      labels: { nodepool, resource_type },
      value: sizeOf(resource_type, amount),
    }));
  const nodes = poolNodes(view, pool);
  return [
    ...amounts('karpenter_nodepools_limit', pool.limits),
    ...amounts('karpenter_nodepools_usage', view.usage.get(nodepool) ?? NO_RESOURCES),
    {
      name: 'karpenter_nodepools_nodes_consuming_budgets',
      labels: { nodepool },
      value: nodes.disrupted,
    },
    ...reasonsOf(pool).map((reason) => ({
      name: 'karpenter_nodepools_allowed_disruptions',
      labels: { nodepool, reason },
      value: allowedDisruptions(pool, reason, nodes, nowMs),
    })),
  ];
}

/** Those that Karpenter has, and `Fallback` where the pool asks for the return of its nodes. */
function reasonsOf(pool: NodePool): readonly DisruptionReason[] {
  return returnTermsOf(pool) === undefined ? BUDGET_REASONS : DISRUPTION_REASONS;
}

/** Nodes that the pool's budgets count, and those of them that are going or not ready. */
function poolNodes({ nodeClaims, nodes }: ClusterView, pool: NodePool): PoolNodes {
  const counted = nodeClaims.filter((claim) => isCounted(claim, pool));
  const disrupted = counted.filter((claim) => usesBudgets(claim, nodeOfClaim(nodes, claim)));
  return { total: counted.length, disrupted: disrupted.length };
}
