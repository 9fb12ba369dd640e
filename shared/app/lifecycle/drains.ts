import { type Reason, reason } from '../../core/explain/reason.ts';
import { EXCLUDE_FROM_LOAD_BALANCERS, type LifecycleAction } from '../../core/lifecycle/actions.ts';
import { DO_NOT_DISRUPT } from '../../core/model/labels.ts';
import { type Pod, podKey } from '../../core/model/pod.ts';
import { PortError, type Ports, type WriteResult } from '../../ports.ts';
import { atOnce } from '../writes/at-once.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { saying } from '../writes/decisions.ts';
import { nodeRef, podRef } from '../writes/references.ts';

/**
 * Of one node. A webhook that does not answer takes 10 s a pod, of which a warning of EC2 leaves
 * twelve: the other pods are not to wait behind those that it is asked about.
 */
const EVICTIONS_AT_ONCE = 5;

/** What came of evictions. */
export interface Evictions {
  readonly evictions: number;
  /** Pods whose eviction was refused for another reason than a budget. */
  readonly failures: readonly Failure[];
}

/** Who follows evictions from one pass to the next. */
export interface EvictionWatch {
  /** Whether the pod's node is to get an event that the pod stays. @default it is */
  readonly isNews?: (pod: Pod) => boolean;
  /** `isGone` false: whatever refused it. */
  readonly onAnswer?: (pod: Pod, isGone: boolean) => void;
}

/**
 * Asks for each of the pods to go, whatever the answer for the others is. What a budget does not
 * allow, or is refused, is asked for again later.
 */
export async function evictPods(
  ports: Ports,
  pods: readonly Pod[],
  watched: EvictionWatch = {},
): Promise<Evictions> {
  let evictions = 0;
  const failures = new Map<Pod, readonly Failure[]>();
  await atOnce(EVICTIONS_AT_ONCE, pods, async (pod) => {
    const ask = async (): Promise<void> => {
      let isGone = false;
      try {
        isGone = await isEvicted(ports, pod, watched);
      } finally {
        watched.onAnswer?.(pod, isGone);
      }
      if (isGone) evictions += 1;
    };
    failures.set(pod, await attempt(`Pod/${pod.namespace}/${pod.name}`, ask));
  });
  return { evictions, failures: pods.flatMap((pod) => failures.get(pod) ?? []) };
}

async function isEvicted(ports: Ports, pod: Pod, watched: EvictionWatch): Promise<boolean> {
  const { cluster, recorder } = ports;
  const name = `${pod.namespace}/${pod.name}`;
  try {
    const result = await cluster.evict(podRef(pod));
    const code = { done: '200', gone: '404', blocked: '429' }[result];
    recorder.count('pods_eviction_requests_total', { code });
    if (result === 'blocked') {
      await publishFailedDraining(ports, pod, reason('eviction-blocked', { pod: name }), watched);
    }
    return result === 'done';
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    recorder.count('pods_eviction_requests_total', { code: error.code });
    const why = reason('eviction-refused', { pod: name, said: error.message });
    await publishFailedDraining(ports, pod, why, watched);
    throw error;
  }
}

/** Nobody asks for these pods to go, so that no refusal tells of them. */
export async function publishKept(
  ports: Ports,
  pods: readonly Pod[],
  watched: EvictionWatch,
): Promise<void> {
  for (const pod of pods) {
    const why = reason('pod-protected', { pod: podKey(pod), annotation: DO_NOT_DISRUPT });
    await publishFailedDraining(ports, pod, why, watched);
  }
}

async function publishFailedDraining(
  { cluster }: Ports,
  pod: Pod,
  why: Reason,
  { isNews }: EvictionWatch,
): Promise<void> {
  if (isNews?.(pod) === false) return;
  // As in the kubelet's own events the name stands for the uid: `kubectl describe node` asks by it.
  const name = pod.nodeName ?? '';
  await cluster.event({
    regarding: { kind: 'Node', name, uid: name },
    type: 'Warning',
    reason: 'FailedDraining',
    ...saying(why),
  });
}

/** A node changes all the time: only its taints have to be those that were read. */
export async function taintNode(
  { cluster }: Ports,
  { node, taints }: Extract<LifecycleAction, { kind: 'taint-node' }>,
): Promise<WriteResult> {
  const labels = { [EXCLUDE_FROM_LOAD_BALANCERS]: 'karpenter' };
  return await cluster.patchNode(nodeRef(node), { taints, taintsBefore: node.taints, labels });
}
