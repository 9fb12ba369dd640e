import { EXCLUDE_FROM_LOAD_BALANCERS, type LifecycleAction } from '../core/lifecycle/actions.ts';
import type { Pod } from '../core/model/pod.ts';
import type { Ports, WriteResult } from '../ports.ts';
import { nodeRef, podRef } from './references.ts';

/** Asks for the pods to go; how many do. What a budget does not allow is asked for again later. */
export async function evictPods({ cluster, recorder }: Ports, pods: readonly Pod[]) {
  let evictions = 0;
  for (const pod of pods) {
    const result = await cluster.evict(podRef(pod));
    const code = { done: '200', gone: '404', blocked: '429' }[result];
    recorder.count('pods_eviction_requests_total', { code });
    if (result === 'done') evictions += 1;
    if (result === 'done' || result === 'gone') continue;
    await cluster.event({
      regarding: { kind: 'Node', name: pod.nodeName ?? '' },
      type: 'Warning',
      reason: 'FailedDraining',
      message: `A PodDisruptionBudget does not allow ${pod.namespace}/${pod.name} to be evicted`,
    });
  }
  return evictions;
}

/** A node changes all the time: only its taints have to be those that were read. */
export async function taintNode(
  { cluster }: Ports,
  { node, taints }: Extract<LifecycleAction, { kind: 'taint-node' }>,
): Promise<WriteResult> {
  const labels = { [EXCLUDE_FROM_LOAD_BALANCERS]: 'karpenter' };
  return await cluster.patchNode(nodeRef(node), { taints, taintsBefore: node.taints, labels });
}
