import type { Pod } from '../model/pod.ts';

/** A new node takes longer than this from CreateFleet until it is ready. */
const SOONER_THAN_NODE_MS = 30_000;

/** The kubelet kills what is left of a pod at its deadline, and the Pod is deleted after that. */
const AFTER_DEADLINE_MS = 5_000;

/** Their controllers create the next pod only when the last is gone: its room is for that one. */
const ONE_BY_ONE: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet']);

function isEnding({ nodeName, deletedAtMs, controller }: Pod, nowMs: number): boolean {
  if (nodeName === undefined || deletedAtMs === undefined) return false;
  if (ONE_BY_ONE.has(controller?.kind ?? '')) return false;
  const leftMs = deletedAtMs - nowMs;
  return leftMs <= SOONER_THAN_NODE_MS && leftMs > -AFTER_DEADLINE_MS;
}

/** By node: the highest priority of the pods that kube-scheduler makes room for there. */
function preemptions(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  for (const { nodeName, nominatedNodeName: node, spec } of pods) {
    if (nodeName !== undefined || node === undefined || !spec.preempts) continue;
    highest.set(node, Math.max(spec.priority, highest.get(node) ?? spec.priority));
  }
  return highest;
}

/**
 * The pods without those that are being deleted and have to be gone (`metadata.deletionTimestamp`,
 * which has the grace period in it) before a new node could be ready: in a rolling update the next
 * pod waits for the room of the last. One that is still there after its deadline takes room again,
 * and the room of one that is preempted is for the pod that preempts it.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
 */
export function withoutEnding(pods: readonly Pod[], nowMs: number): readonly Pod[] {
  if (!pods.some((pod) => isEnding(pod, nowMs))) return pods;
  const highest = preemptions(pods);
  const isPreempted = ({ nodeName = '', spec }: Pod) =>
    spec.priority < (highest.get(nodeName) ?? Number.NEGATIVE_INFINITY);
  return pods.filter((pod) => !isEnding(pod, nowMs) || isPreempted(pod));
}
