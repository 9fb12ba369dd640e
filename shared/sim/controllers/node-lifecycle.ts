import { type Json, listAt, numberAt, textAt } from '../json.ts';
import { conditionStatus, isOver, setCondition, withSpec } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';
import type { Timeline } from '../timeline.ts';
import { Worklist } from '../worklist.ts';
import { deletePod } from './workloads.ts';

/** What the API server's admission gives pods that say nothing of it. */
const TOLERATED_S = 300;
const TAINT = { key: 'node.kubernetes.io/unreachable' };
const EFFECTS = ['NoSchedule', 'NoExecute'] as const;

/** Whether nobody has heard of the node's kubelet for a while: it starts and stops no pods. */
export function isUnreachable(node: KubeObject): boolean {
  return conditionStatus(node, 'Ready') === 'Unknown';
}

function isTaint(taint: unknown): boolean {
  return textAt(taint, 'key') === TAINT.key;
}

function isTolerating(toleration: unknown): boolean {
  const key = textAt(toleration, 'key') ?? '';
  const effect = textAt(toleration, 'effect') ?? '';
  const isOfTaint = key === '' || key === TAINT.key;
  const operator = textAt(toleration, 'operator') ?? 'Equal';
  const isOfValue = operator === 'Exists' || (textAt(toleration, 'value') ?? '') === '';
  return isOfTaint && isOfValue && (effect === '' || effect === 'NoExecute');
}

/** Seconds that the pod stays on a node that is unreachable; infinite: it stays. */
function toleratedSeconds(pod: KubeObject): number {
  const own = listAt(pod, 'spec', 'tolerations').filter(isTolerating);
  if (own.length === 0) return TOLERATED_S;
  return Math.min(
    ...own.map((each) => numberAt(each, 'tolerationSeconds') ?? Number.POSITIVE_INFINITY),
  );
}

/**
 * What kube-controller-manager does about a node whose kubelet is silent: it is tainted, its pods
 * are not ready, and after a while they are deleted, whatever a PodDisruptionBudget says. They stay
 * until the kubelet has stopped them, or their node is gone.
 * https://kubernetes.io/docs/concepts/architecture/nodes/#node-controller
 */
export class NodeLifecycle {
  private readonly store: ObjectStore;
  private readonly timeline: Timeline;
  private readonly changed: Worklist;
  /** Nodes that are unreachable, by uid: since when. */
  private readonly sinceMs = new Map<string, number>();

  constructor(store: ObjectStore, timeline: Timeline) {
    this.store = store;
    this.timeline = timeline;
    this.changed = new Worklist(store, ['Node'], ({ object }) => [object]);
  }

  reconcile(): void {
    for (const node of this.changed.take('Node')) {
      const isTainted = listAt(node, 'spec', 'taints').some(isTaint);
      const { uid } = node.metadata;
      if (!isUnreachable(node)) {
        this.sinceMs.delete(uid);
        if (isTainted) this.write(node, []);
        continue;
      }
      const timeAdded = this.timeline.isoNow();
      if (!isTainted)
        this.write(
          node,
          EFFECTS.map((effect) => ({ ...TAINT, effect, timeAdded })),
        );
      if (!this.sinceMs.has(uid)) this.expect(node);
    }
  }

  private write(node: KubeObject, taints: readonly Json[]): void {
    this.store.update(node, (latest) => {
      const others = listAt(latest, 'spec', 'taints').filter((each) => !isTaint(each));
      return withSpec(latest, { taints: [...others, ...taints] });
    });
  }

  /** Its pods are to go in time, unless it is back by then. */
  private expect({ metadata: { name, uid } }: KubeObject): void {
    const nowMs = this.timeline.nowMs();
    this.sinceMs.set(uid, nowMs);
    for (const pod of this.store.podsOn(name)) {
      if (isOver(pod)) continue;
      const unready = { type: 'Ready', status: 'False', reason: 'NodeNotReady' };
      this.store.update(pod, (latest) => setCondition(latest, unready, this.timeline.isoNow()));
      const seconds = toleratedSeconds(pod);
      if (seconds === Number.POSITIVE_INFINITY) continue;
      this.timeline.after(seconds * 1000, () => {
        const { kind, metadata } = pod;
        const found = this.store.get(kind, metadata.namespace, metadata.name);
        const isSame = found?.metadata.uid === metadata.uid;
        if (isSame && this.sinceMs.get(uid) === nowMs) deletePod(this.store, found);
      });
    }
  }
}
