import { setTimeout as sleep } from 'node:timers/promises';
import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { property, text } from '../../shared/kube/list.ts';
import { type WatchEvent, watchOnce } from '../../shared/kube/watch.ts';
import { Endings } from './kubelet-endings.ts';

/** A node as its kubelet reports it. */
export interface JoiningNode {
  readonly name: string;
  readonly providerId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly object[];
  /** Kubernetes quantities; allocatable is the same. */
  readonly capacity: Readonly<Record<string, string>>;
  /** @default true */
  readonly isReady?: boolean;
}

/** Registers a node, by default one that is ready at once. */
export async function joinNode(client: KubeClient, node: JoiningNode): Promise<void> {
  const at = new Date().toISOString();
  const ready =
    node.isReady === false
      ? { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'starting' }
      : { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
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

/** How kubelets go about it. */
export interface KubeletManner {
  /** Pods end as their containers do, see {@link Endings}. @default they run until deleted, and go at once */
  readonly isGraceful?: boolean;
  /** Whether the node's machine runs. @default always */
  readonly isAlive?: (node: string) => boolean;
}

interface Serving {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly isAlive: (node: string) => boolean;
  readonly endings: Endings | undefined;
}

/**
 * Stands in for the kubelets of all nodes until the signal aborts: pods that are bound run after a
 * second, pods that are deleted go.
 */
export async function runKubelets(
  client: KubeClient,
  signal: AbortSignal,
  { isGraceful = false, isAlive = () => true }: KubeletManner = {},
): Promise<void> {
  const selection = { resource: RESOURCES.pods, fieldSelector: 'spec.nodeName!=' };
  const endings = isGraceful ? new Endings(client, isAlive) : undefined;
  const serving: Serving = { client, signal, isAlive, endings };
  const underWay = new Set<Promise<void>>();
  const faults: unknown[] = [];
  while (!signal.aborted) {
    try {
      // From version 0 the server first sends what there is. It ends a watch that reads too slowly.
      for await (const event of watchOnce(client, selection, { resourceVersion: '0', signal })) {
        if (event.kind !== 'added' && event.kind !== 'modified') continue;
        const served: Promise<void> = serve(serving, event)
          .catch((error: unknown) => void faults.push(error))
          .finally(() => underWay.delete(served));
        underWay.add(served);
      }
    } catch (error) {
      // A test that lets time pass makes a quiet watch look like one that has stalled.
      if (!isKubeFault(error, 'unavailable')) throw error;
    }
  }
  endings?.stop();
  await Promise.all(underWay);
  if (faults.length > 0) throw faults[0];
}

async function serve(
  { client, signal, isAlive, endings }: Serving,
  event: Exclude<WatchEvent, { kind: 'bookmark' }>,
): Promise<void> {
  const pod = event.object;
  const metadata = property(pod, 'metadata');
  if (!isAlive(text(property(property(pod, 'spec'), 'nodeName')))) return;
  const address = {
    namespace: text(property(metadata, 'namespace')),
    name: text(property(metadata, 'name')),
  };
  const uid = text(property(metadata, 'uid'));
  const isPending = property(property(pod, 'status'), 'phase') === 'Pending';
  try {
    if (property(metadata, 'deletionTimestamp') !== undefined) {
      if (endings === undefined) {
        await client.delete(RESOURCES.pods, address, { uid, gracePeriodSeconds: 0 });
      } else {
        endings.end(pod);
      }
    } else if (isPending && event.kind === 'added') {
      await sleep(START_MS, undefined, { signal });
      const value = { metadata: { uid }, status: runningStatus(pod) };
      await client.patch(RESOURCES.pods, address, { kind: 'merge', value }, 'status');
      endings?.expect(pod);
    }
  } catch (error) {
    if (signal.aborted) return;
    // The pod went or was replaced meanwhile.
    if (!isKubeFault(error, 'notFound') && !isKubeFault(error, 'conflict')) throw error;
  }
}

/** A pod with a readiness probe waits for something that is not here. */
function isProbed(pod: unknown): boolean {
  const containers = property(property(pod, 'spec'), 'containers');
  return (
    Array.isArray(containers) &&
    containers.some((each) => property(each, 'readinessProbe') !== undefined)
  );
}

function runningStatus(pod: unknown): object {
  const at = new Date().toISOString();
  const before = property(property(pod, 'status'), 'conditions');
  const status = isProbed(pod) ? 'False' : 'True';
  const ready = { type: 'Ready', status, lastTransitionTime: at };
  const conditions = [...(Array.isArray(before) ? before : []), ready];
  return { phase: 'Running', startTime: at, conditions };
}
