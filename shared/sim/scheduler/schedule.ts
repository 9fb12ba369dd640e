import type { Pod } from '../../core/model/pod.ts';
import { CPU, fitsResources, MEMORY } from '../../core/model/resources.ts';
import { tolerates, untoleratedTaint } from '../../core/model/taint.ts';
import { portsClash } from '../../core/scheduling/problem/host-ports.ts';
import { termsOf } from '../../core/scheduling/problem/node-terms.ts';
import { mayAttach } from './attach-limits.ts';
import {
  countMeant,
  meetsPodAffinity,
  meetsPodAntiAffinity,
  meetsSpread,
  spreadCounts,
} from './inter-pod.ts';
import { assumeVolumes, matchesAny, matchesNodeTerms, matchesVolumes } from './node-match.ts';
import { isMakingRoom, type Preemption, preemption } from './preempt.ts';
import { freeOn, type NodeView, place, type SchedulerView, withNominated } from './view.ts';

export interface Binding {
  readonly pod: Pod;
  /** Undefined: no node would do, and why. */
  readonly node: string | undefined;
  readonly message: string;
  /** Where room is made for it, and by whose end; none where they are already on their way. */
  readonly preemption?: Preemption;
}

type Filter = (pod: Pod, target: NodeView) => boolean;

/** kube-scheduler's filters, in its order, with what it says when one removes a node. */
function filtersFor(view: SchedulerView, pod: Pod): readonly (readonly [string, Filter])[] {
  const hard = pod.spec.topologySpread.filter((each) => each.whenUnsatisfiable === 'DoNotSchedule');
  const counted = hard.map((each) => [each, spreadCounts(view, pod, each)] as const);
  return [
    [
      'had untolerated taint',
      (each, { node }) => untoleratedTaint(each.spec.tolerations, node.taints) === undefined,
    ],
    [
      "didn't match Pod's node affinity/selector",
      (each, target) => matchesNodeTerms(each.spec, target),
    ],
    [
      "didn't have free ports for the requested pod ports",
      (each, target) =>
        target.pods.every((other) => !portsClash(each.spec.hostPorts, other.spec.hostPorts)),
    ],
    ['had too few resources', (each, target) => fitsResources(each.spec.requests, freeOn(target))],
    ['exceeded the most volumes', (each, target) => mayAttach(view, each, target)],
    ['had volume node affinity conflict', (each, target) => matchesVolumes(view, each, target)],
    [
      "didn't match pod topology spread constraints",
      (each, target) =>
        counted.every(([constraint, counts]) => meetsSpread(each, constraint, counts, target)),
    ],
    [
      "didn't match pod affinity rules",
      (each, target) => each.spec.podAffinity.length === 0 || meetsPodAffinity(view, each, target),
    ],
    [
      "didn't match pod anti-affinity rules",
      (each, target) => meetsPodAntiAffinity(view, each, target),
    ],
    // The simulated cluster has no devices that claims could be given.
    ['cannot allocate all claims', (each) => !each.spec.hasResourceClaims],
  ];
}

/** Share of CPU and memory left free after the pod, 0–100: kube-scheduler's default spreads. */
function leastAllocated(pod: Pod, { node, used }: NodeView): number {
  const free = [CPU, MEMORY].map((name) => {
    const total = node.allocatable[name] ?? 0;
    const taken = (used[name] ?? 0) + (pod.spec.requests[name] ?? 0);
    return total === 0 ? 0 : Math.max(0, ((total - taken) * 100) / total);
  });
  return free.reduce((sum, each) => sum + each, 0) / free.length;
}

/** Weight of preferences that the node meets, or breaks, in kube-scheduler's proportions. */
function preferenceScore(view: SchedulerView, pod: Pod, target: NodeView): number {
  const { spec } = pod;
  let score = 0;
  for (const { weight, term } of spec.preferredNodeAffinity) {
    if (matchesAny(termsOf([term]), target)) score += 2 * weight;
  }
  for (const { weight, term } of spec.preferredPodAffinity) {
    if ((countMeant(view, pod, term, target) ?? 0) > 0) score += 2 * weight;
  }
  for (const { weight, term } of spec.preferredPodAntiAffinity) {
    if ((countMeant(view, pod, term, target) ?? 0) > 0) score -= 2 * weight;
  }
  for (const constraint of spec.topologySpread) {
    if (constraint.whenUnsatisfiable === 'DoNotSchedule') continue;
    const domain = target.labels[constraint.topologyKey];
    const counts = spreadCounts(view, pod, constraint);
    const most = Math.max(1, ...counts.values());
    score -= domain === undefined ? 200 : ((counts.get(domain) ?? 0) * 200) / most;
  }
  const avoided = target.node.taints.filter(
    (taint) =>
      taint.effect === 'PreferNoSchedule' &&
      !spec.tolerations.some((each) => tolerates(each, taint)),
  );
  return score - 300 * avoided.length;
}

/** Whether the pod also fits when pods that are nominated to the node have come to it. */
function fitsBesideNominated(view: SchedulerView, pod: Pod, target: NodeView): boolean {
  const crowded = withNominated(view, pod, target);
  return (
    crowded.target === target ||
    filtersFor(crowded.view, pod).every(([, filter]) => filter(pod, crowded.target))
  );
}

/** The node that the pod is nominated to, if it would do: no other is looked at then. */
function nominatedNode(view: SchedulerView, pod: Pod): NodeView | undefined {
  if (!view.nominated.get(pod.nominatedNodeName ?? '')?.has(pod)) return undefined;
  const target = view.nodes.find(({ node }) => node.name === pod.nominatedNodeName);
  const isFit =
    target !== undefined &&
    filtersFor(view, pod).every(([, filter]) => filter(pod, target)) &&
    fitsBesideNominated(view, pod, target);
  return isFit ? target : undefined;
}

/** The best node, or why there is none. */
function choose(view: SchedulerView, pod: Pod): NodeView | string {
  const nominated = nominatedNode(view, pod);
  if (nominated !== undefined) return nominated;
  let candidates: readonly NodeView[] = view.nodes;
  const removed: string[] = [];
  const filters: ReturnType<typeof filtersFor> = [
    ...filtersFor(view, pod),
    [
      'kept their room for nominated pods',
      (each, target) => fitsBesideNominated(view, each, target),
    ],
  ];
  for (const [what, filter] of filters) {
    const kept = candidates.filter((target) => filter(pod, target));
    if (kept.length < candidates.length) removed.push(`${candidates.length - kept.length} ${what}`);
    candidates = kept;
  }
  let best: { readonly target: NodeView; readonly score: number } | undefined;
  for (const target of candidates) {
    const score = leastAllocated(pod, target) + preferenceScore(view, pod, target);
    if (best === undefined || score > best.score) best = { target, score };
  }
  if (best === undefined) {
    const reasons = removed.length === 0 ? 'no nodes available' : removed.join(', ');
    return `0/${view.nodes.length} nodes are available: ${reasons}.`;
  }
  return best.target;
}

/** The order in which kube-scheduler tries pods. */
export function bySchedulingOrder(a: Pod, b: Pod): number {
  return (
    b.spec.priority - a.spec.priority ||
    a.createdAtMs - b.createdAtMs ||
    (a.namespace < b.namespace ? -1 : a.namespace > b.namespace ? 1 : 0) ||
    (a.name < b.name ? -1 : 1)
  );
}

/** Equal for pods of which kube-scheduler thinks the same; specs that read the same are one object. */
export function likeness({ namespace, labels }: Pod): string {
  return `${namespace} ${JSON.stringify(labels)}`;
}

/** Why nothing would do for a pod, as long as no other is placed: the same holds for its like. */
class Failures {
  private bySpec = new Map<Pod['spec'], Map<string, string>>();

  get(pod: Pod): string | undefined {
    return this.bySpec.get(pod.spec)?.get(likeness(pod));
  }

  set(pod: Pod, message: string): void {
    const known = this.bySpec.get(pod.spec) ?? new Map<string, string>();
    this.bySpec.set(pod.spec, known.set(likeness(pod), message));
  }

  clear(): void {
    if (this.bySpec.size > 0) this.bySpec = new Map();
  }
}

/** The room that is being made for the pod, or that it now makes by preemption. */
function roomFor(view: SchedulerView, pod: Pod): Preemption | undefined {
  const { nominatedNodeName: node } = pod;
  if (node !== undefined && isMakingRoom(view, pod)) return { node, victims: [] };
  return preemption(
    view,
    pod,
    (changed, target) =>
      filtersFor(changed, pod).every(([, filter]) => filter(pod, target)) &&
      fitsBesideNominated(changed, pod, target),
  );
}

/** Whether the pod is one that kube-scheduler tries. */
export function isToSchedule(pod: Pod): boolean {
  return (
    pod.nodeName === undefined &&
    pod.phase === 'Pending' &&
    pod.deletedAtMs === undefined &&
    !pod.spec.hasSchedulingGates &&
    pod.spec.schedulerName === 'default-scheduler'
  );
}

/** Binds what can be bound, one pod after the other; nodes in the order of their names. */
export function schedule(
  view: SchedulerView,
  pods: readonly Pod[] = view.objects.pods,
): readonly Binding[] {
  const waiting = pods.filter(isToSchedule);
  const failures = new Failures();
  return waiting.sort(bySchedulingOrder).map((pod): Binding => {
    const nominated = view.nominated.get(pod.nominatedNodeName ?? '');
    const isNominated = nominated?.has(pod) === true;
    const known = isNominated ? undefined : failures.get(pod);
    const chosen = known ?? choose(view, pod);
    // A nomination is used up by the first try, also by one in vain: the room is for others again.
    if (nominated?.delete(pod) === true) failures.clear();
    if (typeof chosen === 'string') {
      failures.set(pod, chosen);
      const room = known === undefined ? roomFor(view, pod) : undefined;
      if (room === undefined) return { pod, node: undefined, message: chosen };
      view.nominated.get(room.node)?.add(pod);
      failures.clear();
      return { pod, node: undefined, message: chosen, preemption: room };
    }
    place(chosen, pod);
    assumeVolumes(view, pod, chosen);
    failures.clear();
    return { pod, node: chosen.node.name, message: '' };
  });
}
