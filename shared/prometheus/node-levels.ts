import type { Node } from '../core/model/cluster.ts';
import {
  ARCH,
  CAPACITY_TYPE,
  INSTANCE_LABELS,
  INSTANCE_TYPE,
  NODE_POOL,
  OS,
  REGION,
  ZONE,
} from '../core/model/labels.ts';
import { isLive, type Pod } from '../core/model/pod.ts';
import { addResources, CPU, NO_RESOURCES, type Resources } from '../core/model/resources.ts';
import type { ClusterView } from '../ports/metrics.ts';
import type { Level, SeriesLabels } from './series.ts';

/** Karpenter's labels of nodes by the labels of Kubernetes that they have their values from. */
const LABELS = {
  nodepool: NODE_POOL,
  zone: ZONE,
  region: REGION,
  arch: ARCH,
  os: OS,
  capacity_type: CAPACITY_TYPE,
  instance_type: INSTANCE_TYPE,
  instance_category: INSTANCE_LABELS.category,
  instance_family: INSTANCE_LABELS.family,
  instance_generation: INSTANCE_LABELS.generation,
  instance_size: INSTANCE_LABELS.size,
  instance_cpu: INSTANCE_LABELS.cpu,
  instance_memory: INSTANCE_LABELS.memory,
} as const;

/** What Karpenter writes where a label is not there: its dashboards ask for it. */
export const NONE = 'N/A';

/** Each node has a value of these, so that sums over nodes find one. */
const ALWAYS: Resources = { cpu: 0, memory: 0, pods: 0 };

/** Prometheus has cores, Joiner thousandths of them. */
export function sizeOf(resource: string, amount: number): number {
  return resource === CPU ? amount / 1000 : amount;
}

/** Labels that tell where a node is and what it is; `N/A` for what it does not say. */
export function placeLabels(
  node: Node | undefined,
  names: readonly (keyof typeof LABELS)[],
): SeriesLabels {
  return Object.fromEntries(names.map((name) => [name, node?.labels[LABELS[name]] ?? NONE]));
}

const NODE_LABEL_NAMES = Object.keys(LABELS).filter(
  (name): name is keyof typeof LABELS => name in LABELS,
);

/** What nodes have and what is asked of them. */
export function nodeLevels(view: ClusterView, nowMs: number): readonly Level[] {
  const pods = Map.groupBy(view.pods.filter(isLive), ({ nodeName }) => nodeName);
  return view.nodes.flatMap((node) => {
    const labels = {
      ...placeLabels(node, NODE_LABEL_NAMES),
      node_name: node.name,
      managed: String(node.labels[NODE_POOL] !== undefined),
    };
    const ages = { name: 'karpenter_nodes_current_lifetime_seconds', labels };
    return [
      { ...ages, value: Math.max(0, nowMs - node.createdAtMs) / 1000 },
      ...resourceLevels(node, pods.get(node.name) ?? []).map(({ name, resource, value }) => ({
        name,
        labels: { ...labels, resource_type: resource },
        value,
      })),
    ];
  });
}

interface ResourceLevel {
  readonly name: string;
  readonly resource: string;
  readonly value: number;
}

function resourceLevels(node: Node, pods: readonly Pod[]): readonly ResourceLevel[] {
  const [daemons, others] = [pods.filter(isDaemon), pods.filter((pod) => !isDaemon(pod))];
  const sum = (of: readonly Pod[], what: 'requests' | 'limits'): Resources =>
    of.reduce((total, { spec }) => addResources(total, spec[what]), NO_RESOURCES);
  const { allocatable, capacity } = node;
  const amounts: readonly (readonly [string, Resources])[] = [
    ['karpenter_nodes_allocatable', allocatable],
    ['karpenter_nodes_total_pod_requests', { ...ALWAYS, ...sum(others, 'requests') }],
    ['karpenter_nodes_total_pod_limits', sum(others, 'limits')],
    ['karpenter_nodes_total_daemon_requests', { ...ALWAYS, ...sum(daemons, 'requests') }],
    ['karpenter_nodes_total_daemon_limits', sum(daemons, 'limits')],
    ['karpenter_nodes_system_overhead', overhead(capacity, allocatable)],
  ];
  return amounts.flatMap(([name, resources]) =>
    Object.entries(resources).map(([resource, amount]) => ({
      name,
      resource,
      value: sizeOf(resource, amount),
    })),
  );
}

/** What the system keeps of a node's capacity. */
function overhead(capacity: Resources, allocatable: Resources): Resources {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, amount - (allocatable[name] ?? 0)]),
  );
}

function isDaemon({ controller }: Pod): boolean {
  return controller?.kind === 'DaemonSet';
}
