import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { property, text } from '../../shared/kube/list.ts';
import { RESOURCES } from '../../shared/kube/resources.ts';
import { type WatchEvent, watchOnce } from '../../shared/kube/watch.ts';

/** A node as its kubelet reports it. */
export interface JoiningNode {
  readonly name: string;
  readonly providerId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly object[];
  /** Kubernetes quantities; allocatable is the same. */
  readonly capacity: Readonly<Record<string, string>>;
}

/** Registers a node that is ready at once. */
export async function joinNode(client: KubeClient, node: JoiningNode): Promise<void> {
  const at = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
  await client.create(RESOURCES.nodes, {
    metadata: { name: node.name, labels: { 'kubernetes.io/hostname': node.name, ...node.labels } },
    spec: { providerID: node.providerId, taints: node.taints },
    status: {
      capacity: node.capacity,
      allocatable: node.capacity,
      conditions: [{ ...ready, lastHeartbeatTime: at, lastTransitionTime: at }],
    },
  });
}

/** Writes the node's condition Ready; `sinceMs` is when it began, now by default. */
export async function setReady(
  client: KubeClient,
  name: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  sinceMs = Date.now(),
): Promise<void> {
  const at = new Date(sinceMs).toISOString();
  const ready = { type: 'Ready', status, reason, message: reason };
  const value = { status: { conditions: [{ ...ready, lastTransitionTime: at }] } };
  await client.patch(RESOURCES.nodes, { name }, { kind: 'merge', value }, 'status');
}

/** A kubelet pulls images and starts containers first: then other pods are long bound, too. */
const START_MS = 1_000;

/**
 * Stands in for the kubelets of all nodes until the signal aborts: pods that are bound run after a
 * second, pods that are deleted go at once.
 */
export async function runKubelets(client: KubeClient, signal: AbortSignal): Promise<void> {
  const selection = { resource: RESOURCES.pods, fieldSelector: 'spec.nodeName!=' };
  const serving = new Set<Promise<void>>();
  const faults: unknown[] = [];
  while (!signal.aborted) {
    try {
      // From version 0 the server first sends what there is. It ends a watch that reads too slowly.
      for await (const event of watchOnce(client, selection, { resourceVersion: '0', signal })) {
        if (event.kind !== 'added' && event.kind !== 'modified') continue;
        const served: Promise<void> = serve(client, event, signal)
          .catch((error: unknown) => void faults.push(error))
          .finally(() => serving.delete(served));
        serving.add(served);
      }
    } catch (error) {
      // A test that lets time pass makes a quiet watch look like one that has stalled.
      if (!isKubeFault(error, 'unavailable')) throw error;
    }
  }
  await Promise.all(serving);
  if (faults.length > 0) throw faults[0];
}

async function serve(
  client: KubeClient,
  event: Exclude<WatchEvent, { kind: 'bookmark' }>,
  signal: AbortSignal,
): Promise<void> {
  const pod = event.object;
  const metadata = property(pod, 'metadata');
  const address = {
    namespace: text(property(metadata, 'namespace')),
    name: text(property(metadata, 'name')),
  };
  const uid = text(property(metadata, 'uid'));
  const isPending = property(property(pod, 'status'), 'phase') === 'Pending';
  try {
    if (property(metadata, 'deletionTimestamp') !== undefined) {
      await client.delete(RESOURCES.pods, address, { uid, gracePeriodSeconds: 0 });
    } else if (isPending && event.kind === 'added') {
      await sleep(START_MS, undefined, { signal });
      const value = { metadata: { uid }, status: runningStatus(pod) };
      await client.patch(RESOURCES.pods, address, { kind: 'merge', value }, 'status');
    }
  } catch (error) {
    if (signal.aborted) return;
    // The pod went or was replaced meanwhile.
    if (!isKubeFault(error, 'notFound') && !isKubeFault(error, 'conflict')) throw error;
  }
}

function runningStatus(pod: unknown): object {
  const at = new Date().toISOString();
  const before = property(property(pod, 'status'), 'conditions');
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: at };
  const conditions = [...(Array.isArray(before) ? before : []), ready];
  return { phase: 'Running', startTime: at, conditions };
}
