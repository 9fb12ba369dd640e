import type { Namespace, Node, PersistentVolumeClaim } from '../../core/model/cluster.ts';
import { HOSTNAME, type Labels } from '../../core/model/labels.ts';
import type { Pod } from '../../core/model/pod.ts';
import { addResources, type Resources, subtractResources } from '../../core/model/resources.ts';
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
  /** Zones of volumes that pods placed in this cycle are to get, by the claim. */
  readonly assumedZones: Map<PersistentVolumeClaim, string>;
}

function namespaceLabels(namespaces: readonly Namespace[]): ReadonlyMap<string, Labels> {
  return new Map(
    namespaces.map(({ name, labels }) => [
      name,
      { ...labels, 'kubernetes.io/metadata.name': name },
    ]),
  );
}

/** A node with the pods on it that still run. */
export function nodeView(node: Node, pods: readonly Pod[]): NodeView {
  const labels = { [HOSTNAME]: node.name, ...node.labels };
  const view: NodeView = { node, labels, pods: [], used: {} };
  for (const pod of pods) {
    if (pod.phase !== 'Succeeded' && pod.phase !== 'Failed') place(view, pod);
  }
  return view;
}

export function schedulerView(objects: Omit<ClusterSnapshot, 'instanceTypes'>): SchedulerView {
  const byNode = Map.groupBy(objects.pods, (pod) => pod.nodeName ?? '');
  const nodes = objects.nodes.map((node) => nodeView(node, byNode.get(node.name) ?? []));
  return viewOf(nodes, objects.pods, objects);
}

/** The view of nodes as they are; of the pods, those count that wait and are nominated. */
export function viewOf(
  nodes: readonly NodeView[],
  pods: readonly Pod[],
  objects: Omit<ClusterSnapshot, 'instanceTypes'>,
): SchedulerView {
  const nominated = new Map<string, Set<Pod>>(nodes.map(({ node }) => [node.name, new Set()]));
  for (const pod of pods) {
    if (pod.nodeName !== undefined || pod.deletedAtMs !== undefined) continue;
    nominated.get(pod.nominatedNodeName ?? '')?.add(pod);
  }
  const namespaces = namespaceLabels(objects.namespaces);
  return { nodes, namespaces, objects, nominated, assumedZones: new Map() };
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

/** What is free by what is used: that is another object after each change. */
const freeByUsed = new WeakMap<Resources, Resources>();

export function freeOn({ node, used }: NodeView): Resources {
  const known = freeByUsed.get(used);
  if (known !== undefined) return known;
  const free = subtractResources(node.allocatable, used);
  freeByUsed.set(used, free);
  return free;
}

/** What the scheduler asks of the pods of a node, as long as no more of them come. */
interface Summary {
  readonly count: number;
  /** Of the pods that matter least. */
  readonly leastPriority: number;
  /** Pods that keep others away. */
  readonly apart: readonly Pod[];
}

const summaries = new WeakMap<readonly Pod[], Summary>();

export function summaryOf({ pods }: NodeView): Summary {
  const known = summaries.get(pods);
  if (known?.count === pods.length) return known;
  const summary = {
    count: pods.length,
    leastPriority: pods.reduce(
      (least, { spec }) => Math.min(least, spec.priority),
      Number.POSITIVE_INFINITY,
    ),
    apart: pods.filter(({ spec }) => spec.podAntiAffinity.length > 0),
  };
  summaries.set(pods, summary);
  return summary;
}

export function place(view: NodeView, pod: Pod): void {
  view.pods.push(pod);
  view.used = addResources(view.used, pod.spec.requests);
}
