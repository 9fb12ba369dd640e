import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from '../../core/model/pod.ts';
import { untoleratedTaint } from '../../core/model/taint.ts';
import { selects, withLabelKeys } from '../../core/scheduling/problem/selectors.ts';
import { matchesNodeTerms } from './node-match.ts';
import { type NodeView, type SchedulerView, summaryOf } from './view.ts';

/** Whether the other pod is among those that a pod's affinity term means. */
function isMeant(view: SchedulerView, pod: Pod, term: PodAffinityTerm, other: Pod): boolean {
  const { namespaceSelector, namespaces, labelSelector, matchLabelKeys, mismatchLabelKeys } = term;
  const labels = view.namespaces.get(other.namespace) ?? {
    'kubernetes.io/metadata.name': other.namespace,
  };
  const inNamespace =
    namespaces.includes(other.namespace) ||
    (namespaceSelector !== undefined && selects(namespaceSelector, labels)) ||
    (namespaces.length === 0 &&
      namespaceSelector === undefined &&
      other.namespace === pod.namespace);
  const selector = withLabelKeys(labelSelector, pod.labels, matchLabelKeys, mismatchLabelKeys);
  return inNamespace && selects(selector, other.labels);
}

/** Pods meant by the term in the node's domain; undefined: the node has no such domain. */
export function countMeant(
  view: SchedulerView,
  pod: Pod,
  term: PodAffinityTerm,
  target: NodeView,
): number | undefined {
  const domain = target.labels[term.topologyKey];
  if (domain === undefined) return undefined;
  let count = 0;
  for (const node of view.nodes) {
    if (node.labels[term.topologyKey] !== domain) continue;
    for (const other of node.pods) if (isMeant(view, pod, term, other)) count += 1;
  }
  return count;
}

/** The first pod of a group that wants to be together may go anywhere that has the key. */
function isFirstOfItsKind(view: SchedulerView, pod: Pod): boolean {
  return pod.spec.podAffinity.every(
    (term) =>
      isMeant(view, pod, term, pod) &&
      !view.nodes.some(
        (node) =>
          node.labels[term.topologyKey] !== undefined &&
          node.pods.some((other) => isMeant(view, pod, term, other)),
      ),
  );
}

export function meetsPodAffinity(view: SchedulerView, pod: Pod, target: NodeView): boolean {
  const counts = pod.spec.podAffinity.map((term) => countMeant(view, pod, term, target));
  if (counts.every((count) => (count ?? 0) > 0)) return true;
  return counts.every((count) => count !== undefined) && isFirstOfItsKind(view, pod);
}

/** Neither the pod's own anti-affinity nor that of a pod in the same domain is broken. */
export function meetsPodAntiAffinity(view: SchedulerView, pod: Pod, target: NodeView): boolean {
  const own = pod.spec.podAntiAffinity.every(
    (term) => (countMeant(view, pod, term, target) ?? 0) === 0,
  );
  if (!own) return false;
  return view.nodes.every((node) =>
    summaryOf(node).apart.every((other) =>
      other.spec.podAntiAffinity.every((term) => {
        const domain = node.labels[term.topologyKey];
        const isShared = domain !== undefined && domain === target.labels[term.topologyKey];
        return !isShared || !isMeant(view, other, term, pod);
      }),
    ),
  );
}

/** Whether the constraint counts the node at all. */
function isEligible(pod: Pod, constraint: TopologySpreadConstraint, node: NodeView): boolean {
  const keys = pod.spec.topologySpread.map((each) => each.topologyKey);
  if (!keys.every((key) => node.labels[key] !== undefined)) return false;
  if (constraint.nodeAffinityPolicy === 'Honor' && !matchesNodeTerms(pod.spec, node)) return false;
  return (
    constraint.nodeTaintsPolicy === 'Ignore' ||
    untoleratedTaint(pod.spec.tolerations, node.node.taints) === undefined
  );
}

/** Matching pods by domain of the constraint's key. */
export function spreadCounts(
  view: SchedulerView,
  pod: Pod,
  constraint: TopologySpreadConstraint,
): ReadonlyMap<string, number> {
  const { labelSelector, matchLabelKeys, topologyKey } = constraint;
  const selector = withLabelKeys(labelSelector, pod.labels, matchLabelKeys, []);
  const counts = new Map<string, number>();
  for (const node of view.nodes) {
    const domain = node.labels[topologyKey];
    if (domain === undefined || !isEligible(pod, constraint, node)) continue;
    const matching = node.pods.filter(
      (other) =>
        other.namespace === pod.namespace &&
        other.deletedAtMs === undefined &&
        selects(selector, other.labels),
    );
    counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
  }
  return counts;
}

export function meetsSpread(
  pod: Pod,
  constraint: TopologySpreadConstraint,
  counts: ReadonlyMap<string, number>,
  target: NodeView,
): boolean {
  const domain = target.labels[constraint.topologyKey];
  if (domain === undefined) return false;
  const { labelSelector, matchLabelKeys, minDomains, maxSkew } = constraint;
  const selector = withLabelKeys(labelSelector, pod.labels, matchLabelKeys, []);
  const own = selects(selector, pod.labels) ? 1 : 0;
  const isShort = minDomains !== undefined && counts.size < minDomains;
  const least = isShort ? 0 : Math.min(...counts.values());
  return (counts.get(domain) ?? 0) + own - (Number.isFinite(least) ? least : 0) <= maxSkew;
}
