import { type Reason, reason } from '../../explain/reason.ts';
import type { PodDisruptionBudget } from '../../model/cluster.ts';
import { claimOfNode } from '../../model/joins.ts';
import { DO_NOT_DISRUPT, NODE_POOL } from '../../model/labels.ts';
import type { Pod } from '../../model/pod.ts';
import { podKey } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { plannedPods } from '../../nomination/planned-pods.ts';
import { allows } from '../../requirements/value-set.ts';
import { nodeTermsOf } from './node-terms.ts';
import { budgetsSelecting } from './pod-budgets.ts';
import { podIndexOf } from './pod-index.ts';
import type { StateNode } from './state-node.ts';

/** The pods that a plan has to place, and those it does not look at. */
export interface Demand {
  /** Pending pods and pods on nodes that are going away, in the order of {@link comparePods}. */
  readonly pods: readonly Pod[];
  /** Of these the ones on nodes that are going away. All others that run stay where they are. */
  readonly moving: ReadonlySet<Pod>;
  readonly ignored: ReadonlyMap<string, Reason>;
  /** Of those the ones that get their place when pods that matter less have left it. */
  readonly preempting: readonly Pod[];
}

/**
 * Pods without a node for which kube-scheduler makes room where they are nominated to: pods that
 * matter less are on their way out there, or about to be. Of pods that a plan of ours has nominated
 * only the former is believed. All others are ordinary demand, for kube-scheduler may keep a
 * nomination that has come to nothing; a node with room for its pod is found by the plan again.
 */
function preemptors(snapshot: ClusterSnapshot, leaving: ReadonlySet<string>): ReadonlySet<Pod> {
  const isNominated = ({ nodeName, nominatedNodeName: node, spec }: Pod) =>
    spec.preempts && nodeName === undefined && node !== undefined && !leaving.has(node);
  const { waiting, onNodes: running } = podIndexOf(snapshot.pods);
  const nominated = waiting.filter(isNominated);
  if (nominated.length === 0) return new Set();
  const { nodes, nodeClaims } = snapshot;
  const joined = new Map(nodes.map((node) => [node.name, node]));
  const hasVictims = ({ nominatedNodeName: name = '', spec, uid }: Pod): boolean => {
    const node = joined.get(name);
    const claim = node && claimOfNode(nodeClaims, node);
    const isOurs = claim !== undefined && plannedPods(claim).includes(uid);
    return (running.get(name) ?? []).some(
      (pod) => pod.spec.priority < spec.priority && (pod.deletedAtMs !== undefined || !isOurs),
    );
  };
  return new Set(
    nominated.filter((pod) => joined.has(pod.nominatedNodeName ?? '') && hasVictims(pod)),
  );
}

/** Why a pod without a node is not ours to place; undefined = it is. */
function reasonToIgnore(pod: Pod, preempting: ReadonlySet<Pod>): Reason | undefined {
  if (pod.controller?.kind === 'DaemonSet') return reason('pod-of-daemonset', {});
  if (pod.isMirror || pod.controller?.kind === 'Node') return reason('pod-static', {});
  if (pod.deletedAtMs !== undefined) return reason('pod-deleting', {});
  if (pod.phase !== 'Pending') return reason('pod-not-pending', { phase: pod.phase });
  if (pod.spec.hasSchedulingGates) return reason('pod-gated', {});
  if (preempting.has(pod)) return reason('pod-preempting', {});
  if (!pod.unschedulable) return reason('pod-not-unschedulable', {});
  const terms = nodeTermsOf(pod.spec);
  const wantsNoPool = terms.every((term) => {
    const set = term.get(NODE_POOL);
    return set !== undefined && !set.complement && set.values.size === 0 && allows(set, undefined);
  });
  return terms.length > 0 && wantsNoPool ? reason('pod-wants-no-nodepool', {}) : undefined;
}

/** Priority first, then the order of creation; the name makes the order total. */
export function comparePods(a: Pod, b: Pod): number {
  return (
    b.spec.priority - a.spec.priority ||
    a.createdAtMs - b.createdAtMs ||
    (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0) ||
    (podKey(a) < podKey(b) ? -1 : 1)
  );
}

/** Whether a pod on a node that is going away comes back as another, sooner or later. */
function comesBack(pod: Pod): boolean {
  return (
    pod.controller?.kind !== 'DaemonSet' &&
    pod.controller?.kind !== 'Node' &&
    !pod.isMirror &&
    (pod.deletedAtMs === undefined || pod.controller?.kind === 'StatefulSet')
  );
}

/**
 * Whether nothing lets the pod be evicted: it stays until it ends by itself, and capacity for it
 * would stand empty. A protection that ends after some time (`karpenter.sh/do-not-disrupt: 1h`) is
 * not looked at: the pod may move soon.
 */
export function isNeverEvicted(pod: Pod, budgets: readonly PodDisruptionBudget[]): boolean {
  if (pod.annotations[DO_NOT_DISRUPT] === 'true') return true;
  const own = budgetsSelecting(pod, budgets);
  // The API server evicts no pod that several budgets select.
  return own.length > 1 || own.some((budget) => blocks(budget, pod));
}

/** Whether no pod of the budget may go even when all are healthy, as with 1 of 1. */
function needsAll(budget: PodDisruptionBudget): boolean {
  const { maxUnavailable, minAvailable, desiredHealthy, expectedPods } = budget;
  if (maxUnavailable === 0 || maxUnavailable === '0%' || minAvailable === '100%') return true;
  if (desiredHealthy === undefined || expectedPods === undefined) return false;
  return expectedPods > 0 && desiredHealthy >= expectedPods;
}

/** Whether a budget of the pod never lets it be evicted, however many of its peers are healthy. */
function blocks(budget: PodDisruptionBudget, { ready }: Pod): boolean {
  return needsAll(budget) && (ready || budget.unhealthyPodEvictionPolicy !== 'AlwaysAllow');
}

/** Splits the snapshot's pods; `leaving` are the nodes that are going away. */
export function demandOf(snapshot: ClusterSnapshot, leaving: readonly StateNode[]): Demand {
  const pods: Pod[] = [];
  const ignored = new Map<string, Reason>();
  const held: Pod[] = [];
  const preempting = preemptors(snapshot, new Set(leaving.map(({ name }) => name)));
  const { waiting, onNodes } = podIndexOf(snapshot.pods);
  for (const pod of waiting) {
    const why = reasonToIgnore(pod, preempting);
    if (why === undefined) pods.push(pod);
    else ignored.set(podKey(pod), why);
    if (why?.code === 'pod-preempting') held.push(pod);
  }
  const moving = new Set<Pod>();
  for (const { name, losesAllPods } of leaving) {
    for (const pod of onNodes.get(name) ?? []) {
      if (!comesBack(pod)) continue;
      if (losesAllPods || !isNeverEvicted(pod, snapshot.podDisruptionBudgets)) moving.add(pod);
    }
  }
  return { pods: [...pods, ...moving].sort(comparePods), moving, ignored, preempting: held };
}
