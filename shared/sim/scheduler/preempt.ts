import { missing } from '../../core/missing.ts';
import type { PodDisruptionBudget } from '../../core/model/cluster.ts';
import type { Pod } from '../../core/model/pod.ts';
import { selects } from '../../core/scheduling/problem/selectors.ts';
import { type NodeView, place, type SchedulerView, summaryOf } from './view.ts';

/** A node on which a pod fits once others, which matter less, have gone. */
export interface Preemption {
  readonly node: string;
  readonly victims: readonly Pod[];
}

interface Candidate extends Preemption {
  /** What makes one node better than another: the smaller list, number by number. */
  readonly cost: readonly number[];
}

/** Whether the pod passes all filters on the node as it is in the view. */
type Fits = (view: SchedulerView, target: NodeView) => boolean;

function holding(target: NodeView, pods: readonly Pod[]): NodeView {
  const changed: NodeView = { ...target, pods: [], used: {} };
  for (const pod of pods) place(changed, pod);
  return changed;
}

function isLess({ spec }: Pod, than: Pod): boolean {
  return spec.priority < than.spec.priority;
}

function isProtected(pod: Pod, budgets: readonly PodDisruptionBudget[]): boolean {
  return budgets.some(
    ({ namespace, selector, disruptionsAllowed }) =>
      namespace === pod.namespace && disruptionsAllowed <= 0 && selects(selector, pod.labels),
  );
}

/** Pods that may stay come first: those that a budget protects, then those that matter most. */
function byImportance(budgets: readonly PodDisruptionBudget[]): (a: Pod, b: Pod) => number {
  return (a, b) =>
    Number(isProtected(b, budgets)) - Number(isProtected(a, budgets)) ||
    b.spec.priority - a.spec.priority ||
    a.createdAtMs - b.createdAtMs ||
    (a.uid < b.uid ? -1 : 1);
}

function candidateOn(
  view: SchedulerView,
  pod: Pod,
  target: NodeView,
  fits: Fits,
): Candidate | undefined {
  if (summaryOf(target).leastPriority >= pod.spec.priority) return undefined;
  const budgets = view.objects.podDisruptionBudgets;
  const less = target.pods.filter((each) => isLess(each, pod));
  const staying = less.filter(({ deletedAtMs }) => deletedAtMs === undefined);
  if (staying.length === 0) return undefined;
  const fitsWith = (pods: readonly Pod[]): boolean => {
    const changed = holding(target, pods);
    const nodes = view.nodes.map((each) => (each === target ? changed : each));
    return fits({ ...view, nodes }, changed);
  };
  let kept = target.pods.filter((each) => !isLess(each, pod));
  if (!fitsWith(kept)) return undefined;
  const victims: Pod[] = [];
  for (const each of staying.sort(byImportance(budgets))) {
    if (fitsWith([...kept, each])) kept = [...kept, each];
    else victims.push(each);
  }
  const priorities = victims.map(({ spec }) => spec.priority);
  const cost = [
    victims.filter((each) => isProtected(each, budgets)).length,
    Math.max(...priorities),
    priorities.reduce((sum, each) => sum + each, 0),
    victims.length,
  ];
  return { node: target.node.name, victims, cost };
}

function isCheaper(a: Candidate, b: Candidate): boolean {
  const at = a.cost.findIndex((each, index) => each !== b.cost[index]);
  return at === -1 ? a.node < b.node : (a.cost[at] ?? missing(at)) < (b.cost[at] ?? missing(at));
}

/** Whether pods that matter less are on their way out of the node that the pod is nominated to. */
export function isMakingRoom(view: SchedulerView, pod: Pod): boolean {
  const target = view.nodes.find(({ node }) => node.name === pod.nominatedNodeName);
  return (target?.pods ?? []).some((each) => each.deletedAtMs !== undefined && isLess(each, pod));
}

/**
 * What kube-scheduler's DefaultPreemption does for a pod that no node can take: the node where the
 * least has to go. Undefined: nothing would help, or room is being made already.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
 */
export function preemption(view: SchedulerView, pod: Pod, fits: Fits): Preemption | undefined {
  if (!pod.spec.preempts || isMakingRoom(view, pod)) return undefined;
  let best: Candidate | undefined;
  for (const target of view.nodes) {
    const found = candidateOn(view, pod, target, fits);
    if (found !== undefined && (best === undefined || isCheaper(found, best))) best = found;
  }
  return best;
}
