import { missing } from '../../core/missing.ts';
import { tolerates } from '../../core/model/taint.ts';
import { decodePodObject } from '../decode.ts';
import { type Json, listAt, numberAt, textAt } from '../json.ts';
import { conditionStatus, isOver, setCondition, withSpec } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';
import type { Timeline } from '../timeline.ts';
import { Worklist } from '../worklist.ts';
import { deletePod } from './workloads.ts';

/** What the API server's admission gives pods that say nothing of it. */
const TOLERATED_S = 300;
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const NOT_READY = 'node.kubernetes.io/not-ready';
const EFFECTS = ['NoSchedule', 'NoExecute'] as const;

/** Whether nobody has heard of the node's kubelet for a while: it starts and stops no pods. */
export function isUnreachable(node: KubeObject): boolean {
  return conditionStatus(node, 'Ready') === 'Unknown';
}

function keyOf(taint: unknown): string {
  return textAt(taint, 'key') ?? '';
}

/** Undefined: its kubelet is heard of, and says that it is ready. */
function taintKeyOf(node: KubeObject): string | undefined {
  if (isUnreachable(node)) return UNREACHABLE;
  return conditionStatus(node, 'Ready') === 'True' ? undefined : NOT_READY;
}

/** Seconds that the pod stays on a node with the taint; infinite: it stays. */
function toleratedSeconds(pod: KubeObject, key: string): number {
  const taint = { key, value: '', effect: 'NoExecute' } as const;
  const { tolerations } = decodePodObject(pod).spec;
  const own = listAt(pod, 'spec', 'tolerations').filter((_, at) =>
    tolerates(tolerations[at] ?? missing(at), taint),
  );
  if (own.length === 0) return TOLERATED_S;
  return Math.min(
    ...own.map((each) => numberAt(each, 'tolerationSeconds') ?? Number.POSITIVE_INFINITY),
  );
}

/**
 * What kube-controller-manager does about a node whose kubelet is silent, or is not ready any more:
 * it is tainted, its pods are not ready, and after a while they are deleted, whatever a
 * PodDisruptionBudget says. They stay until the kubelet has stopped them, or their node is gone.
 * https://kubernetes.io/docs/concepts/architecture/nodes/#node-controller
 */
export class NodeLifecycle {
  private readonly store: ObjectStore;
  private readonly timeline: Timeline;
  private readonly changed: Worklist;
  /** Nodes that have been ready, by uid: before, the kubelet's own taint is on them. */
  private readonly known = new Set<string>();
  /** Nodes that are not ready any more, by uid: since when. */
  private readonly sinceMs = new Map<string, number>();

  constructor(store: ObjectStore, timeline: Timeline) {
    this.store = store;
    this.timeline = timeline;
    this.changed = new Worklist(store, ['Node'], ({ object }) => [object]);
  }

  reconcile(): void {
    for (const node of this.changed.take('Node')) {
      const { uid } = node.metadata;
      const key = taintKeyOf(node);
      if (key === undefined) this.known.add(uid);
      if (key === NOT_READY && !this.known.has(uid)) continue;
      const keys = listAt(node, 'spec', 'taints').map(keyOf);
      const isSaid = [UNREACHABLE, NOT_READY].every(
        (each) => keys.includes(each) === (each === key),
      );
      if (!isSaid) this.write(node, key);
      if (key === undefined) this.sinceMs.delete(uid);
      else if (!this.sinceMs.has(uid)) this.expect(node, key);
    }
  }

  private write(node: KubeObject, key: string | undefined): void {
    const timeAdded = this.timeline.isoNow();
    const own: readonly Json[] =
      key === undefined ? [] : EFFECTS.map((effect) => ({ key, effect, timeAdded }));
    this.store.update(node, (latest) => {
      const taints = listAt(latest, 'spec', 'taints');
      const others = taints.filter((each) => ![UNREACHABLE, NOT_READY].includes(keyOf(each)));
      return withSpec(latest, { taints: [...others, ...own] });
    });
  }

  /** Its pods are to go in time, unless it is back by then. */
  private expect({ metadata: { name, uid } }: KubeObject, key: string): void {
    const nowMs = this.timeline.nowMs();
    this.sinceMs.set(uid, nowMs);
    for (const pod of this.store.podsOn(name)) {
      if (isOver(pod)) continue;
      const unready = { type: 'Ready', status: 'False', reason: 'NodeNotReady' };
      this.store.update(pod, (latest) => setCondition(latest, unready, this.timeline.isoNow()));
      const seconds = toleratedSeconds(pod, key);
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
