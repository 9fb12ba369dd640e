import type { Pod } from '../../core/model/pod.ts';
import { fitsResources } from '../../core/model/resources.ts';
import { untoleratedTaint } from '../../core/model/taint.ts';
import { portsClash } from '../../core/scheduling/problem/host-ports.ts';
import { decodePodObject, readState } from '../decode.ts';
import { textAt } from '../json.ts';
import { type KubeObject, keyOf, type ObjectStore } from '../store.ts';
import { matchesNodeTerms } from './node-match.ts';
import { NodeViews } from './node-views.ts';
import { type Binding, isToSchedule, likeness, schedule } from './schedule.ts';
import { freeOn, type NodeView, summaryOf, viewOf } from './view.ts';

/** Pods of which kube-scheduler thinks the same, and that no node can take. */
interface Parked {
  readonly like: Pod;
  readonly keys: Set<string>;
}

/**
 * kube-scheduler with its queue: a pod that no node can take is tried again when a node has changed
 * in a way that may help it. https://kubernetes.io/docs/concepts/scheduling-eviction/scheduling-framework/
 */
export class Scheduler {
  private readonly store: ObjectStore;
  private readonly views: NodeViews;
  /** Pods to try, by key. */
  private readonly active = new Map<string, KubeObject>();
  private parked = new Map<Pod['spec'], Map<string, Parked>>();
  private readonly groups = new Map<string, Parked>();

  constructor(store: ObjectStore) {
    this.store = store;
    this.views = new NodeViews(store);
    for (const pod of store.list('Pod')) this.note(pod, false);
    store.onChange(({ kind, object }) => {
      if (object.kind === 'Pod') this.note(object, kind === 'removed');
    });
  }

  /** Tries the pods that may find a node now. */
  schedule(): readonly Binding[] {
    if (this.active.size === 0 && this.groups.size === 0) return [];
    const nodes = this.views.refresh();
    this.wake(this.views.takeChanged());
    const waiting = this.waiting();
    if (!waiting.some(isToSchedule)) return [];
    const view = viewOf(nodes, waiting, readState(this.store).objects);
    const bindings = schedule(view, waiting);
    for (const { node } of bindings) if (node !== undefined) this.views.forget(node);
    return bindings;
  }

  /** Puts aside the pods that no node could take; to be called when the bindings are written. */
  park(bindings: readonly Binding[]): void {
    const failed = bindings.filter(({ node, preemption }) => node === undefined && !preemption);
    if (failed.length === 0) return;
    const nodes = this.views.refresh();
    const decided = new Map<Pod['spec'], Map<string, boolean>>();
    for (const { pod } of failed) {
      const object = this.active.get(keyOfPod(pod));
      if (object === undefined || textAt(object, 'status', 'nominatedNodeName')) continue;
      const known = decided.get(pod.spec) ?? new Map<string, boolean>();
      decided.set(pod.spec, known);
      const like = likeness(pod);
      const isHopeless =
        known.get(like) ?? (isPlain(pod) && !nodes.some((node) => mayTake(pod, node)));
      known.set(like, isHopeless);
      if (isHopeless) this.putAside(keyOfPod(pod), pod, like);
    }
  }

  private waiting(): readonly Pod[] {
    const keyed = [...this.active].sort(([a], [b]) => (a < b ? -1 : 1));
    return keyed.map(([, object]) => decodePodObject(object));
  }

  private note(pod: KubeObject, isRemoved: boolean): void {
    const key = keyOf(pod);
    this.groups.get(key)?.keys.delete(key);
    this.groups.delete(key);
    if (isRemoved || textAt(pod, 'spec', 'nodeName') !== undefined) this.active.delete(key);
    else this.active.set(key, pod);
  }

  private putAside(key: string, pod: Pod, like: string): void {
    const byLikeness = this.parked.get(pod.spec) ?? new Map<string, Parked>();
    this.parked.set(pod.spec, byLikeness);
    const group = byLikeness.get(like) ?? { like: pod, keys: new Set<string>() };
    byLikeness.set(like, group);
    group.keys.add(key);
    this.groups.set(key, group);
    this.active.delete(key);
  }

  /** Takes back what one of the changed nodes may take. */
  private wake(changed: readonly NodeView[]): void {
    if (this.groups.size === 0 || changed.length === 0) return;
    for (const [spec, byLikeness] of this.parked) {
      for (const [text, group] of byLikeness) {
        const isHelped = changed.some((node) => mayTake(group.like, node));
        if (isHelped) for (const key of group.keys) this.takeBack(key);
        if (group.keys.size === 0) byLikeness.delete(text);
      }
      if (byLikeness.size === 0) this.parked.delete(spec);
    }
  }

  private takeBack(key: string): void {
    const [kind = '', namespace, name = ''] = key.split('/');
    const object = this.store.get(kind, namespace, name);
    this.groups.get(key)?.keys.delete(key);
    this.groups.delete(key);
    if (object !== undefined) this.active.set(key, object);
  }
}

function keyOfPod({ namespace, name }: Pod): string {
  return `Pod/${namespace}/${name}`;
}

/** Whether nothing but what happens on a node itself can help the pod there. */
function isPlain({ spec }: Pod): boolean {
  const { topologySpread, podAffinity, podAntiAffinity, volumes } = spec;
  const isAlone = podAffinity.length === 0 && podAntiAffinity.length === 0;
  return isAlone && topologySpread.length === 0 && volumes.length === 0;
}

/**
 * Whether the node by itself could take the pod, as it is or after preemption. Nothing that may
 * change while other pods are bound is asked: not whom room is kept for by nomination, and not what
 * pods of other nodes say. A pod that only these keep away is tried each time.
 */
function mayTake(pod: Pod, target: NodeView): boolean {
  const { spec } = pod;
  if (untoleratedTaint(spec.tolerations, target.node.taints) !== undefined) return false;
  if (!matchesNodeTerms(spec, target)) return false;
  if (spec.preempts && summaryOf(target).leastPriority < spec.priority) return true;
  return (
    fitsResources(spec.requests, freeOn(target)) &&
    (spec.hostPorts.length === 0 ||
      target.pods.every((other) => !portsClash(spec.hostPorts, other.spec.hostPorts)))
  );
}
