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
  return { nodes, namespaces: namespaceLabels(objects.namespaces), objects };
}

export function place(view: NodeView, pod: Pod): void {
  view.pods.push(pod);
  view.used = addResources(view.used, pod.spec.requests);
}
