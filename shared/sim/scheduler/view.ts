import type { Namespace, Node } from '../../core/model/cluster.ts';
import { HOSTNAME, type Labels } from '../../core/model/labels.ts';
import type { Pod } from '../../core/model/pod.ts';
import { addResources, type Resources } from '../../core/model/resources.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';

/** A node with the pods on it, as kube-scheduler keeps it while it binds. */
export interface NodeView {
  readonly node: Node;
  readonly labels: Labels;
  readonly pods: Pod[];
  used: Resources;
}

/** What one scheduling cycle looks at. */
export interface SchedulerView {
  readonly nodes: readonly NodeView[];
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly objects: Omit<ClusterSnapshot, 'instanceTypes'>;
  /** Pods that are nominated to a node and not bound yet, by the node's name. */
  readonly nominated: ReadonlyMap<string, Set<Pod>>;
}

function namespaceLabels(namespaces: readonly Namespace[]): ReadonlyMap<string, Labels> {
  return new Map(
    namespaces.map(({ name, labels }) => [
      name,
      { ...labels, 'kubernetes.io/metadata.name': name },
    ]),
  );
}

export function schedulerView(objects: Omit<ClusterSnapshot, 'instanceTypes'>): SchedulerView {
  const nodes = objects.nodes.map(
    (node): NodeView => ({
      node,
      labels: { [HOSTNAME]: node.name, ...node.labels },
      pods: [],
      used: {},
    }),
  );
  const byName = new Map(nodes.map((view) => [view.node.name, view]));
  for (const pod of objects.pods) {
    const view = byName.get(pod.nodeName ?? '');
    if (view !== undefined && pod.phase !== 'Succeeded' && pod.phase !== 'Failed') {
      place(view, pod);
    }
  }
  const nominated = new Map<string, Set<Pod>>(nodes.map(({ node }) => [node.name, new Set()]));
  for (const pod of objects.pods) {
    if (pod.nodeName !== undefined || pod.deletedAtMs !== undefined) continue;
    nominated.get(pod.nominatedNodeName ?? '')?.add(pod);
  }
  return { nodes, namespaces: namespaceLabels(objects.namespaces), objects, nominated };
}

/** The view with nominated pods that matter as much as the pod on the node, as if they ran there. */
export function withNominated(
  view: SchedulerView,
  pod: Pod,
  target: NodeView,
): { readonly view: SchedulerView; readonly target: NodeView } {
  const nominated = [...(view.nominated.get(target.node.name) ?? [])];
  const others = nominated.filter(
    (each) => each !== pod && each.spec.priority >= pod.spec.priority,
  );
  if (others.length === 0) return { view, target };
  const crowded = { ...target, pods: [...target.pods] };
  for (const each of others) place(crowded, each);
  const nodes = view.nodes.map((each) => (each === target ? crowded : each));
  return { view: { ...view, nodes }, target: crowded };
}

export function place(view: NodeView, pod: Pod): void {
  view.pods.push(pod);
  view.used = addResources(view.used, pod.spec.requests);
}
