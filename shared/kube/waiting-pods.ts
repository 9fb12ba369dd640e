import { RESOURCES } from '../api/resources.ts';
import type { WaitingPod, WaitingPodListener, WaitingPodStream } from '../ports/cluster.ts';
import type { KubeClient } from './client.ts';
import { POD } from './fields.ts';
import {
  listEach,
  newestVersion,
  property,
  type Selection,
  text,
  uidOf,
  versionOf,
} from './list.ts';
import { watchOnce } from './watch.ts';

/**
 * All pods: one that gets a node leaves the selection of those without, and the API server shows it
 * as it was before.
 */
const PODS: Selection = { resource: RESOURCES.pods, shape: POD, protobuf: true };
const WAITING: Selection = { ...PODS, fieldSelector: 'spec.nodeName=' };

/** kube-scheduler comes to the next pod sooner. */
const QUIET_MS = 150;
/** Nodes do not wait for an API server that does not answer: what it was asked is done without. */
const ANSWER_MS_MAX = 500;

/** Resolves when the stream is open, or cannot be. */
export async function followWaitingPods(
  client: KubeClient,
  listener: WaitingPodListener,
  signal: AbortSignal,
): Promise<WaitingPodStream> {
  const { timing } = client;
  const resourceVersion = await newestVersion(client, WAITING, answering(signal));
  const open = Promise.withResolvers<void>();
  let isOver = false;
  let lastMs = 0;
  const onOpen = (): void => {
    lastMs = timing.nowMs();
    open.resolve();
  };
  /** What kubelets write to pods is not kube-scheduler at work. */
  const bound = new Set<string>();
  const follow = async (): Promise<void> => {
    try {
      for await (const event of watchOnce(client, PODS, { resourceVersion, signal, onOpen })) {
        if (event.kind === 'bookmark') continue;
        const pod = waitingPod(event.object, event.kind === 'deleted');
        if (bound.has(pod.uid) || isStarted(event.object)) continue;
        if (pod.isOver) bound.add(pod.uid);
        lastMs = timing.nowMs();
        listener.onChange(pod);
      }
    } catch {
      // Whoever reads the cluster next meets the fault.
    }
    isOver = true;
    open.resolve();
    listener.onEnd();
  };
  void follow();
  await Promise.race([open.promise, timing.sleep(ANSWER_MS_MAX, signal)]);
  return {
    rest: async (msMax) => {
      const endMs = timing.nowMs() + msMax;
      const leftMs = (): number => Math.min(lastMs + QUIET_MS, endMs) - timing.nowMs();
      while (!isOver && !signal.aborted && leftMs() > 0) await timing.sleep(leftMs(), signal);
    },
    order: () => inOrderOfWrites(client, answering(signal)),
  };
}

function answering(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
}

/** Versions of one kind are comparable numbers, see `Mirror`. */
async function inOrderOfWrites(
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const versions = new Map<string, number>();
  const visit = {
    start: () => versions.clear(),
    object: (pod: unknown) => versions.set(uidOf(pod), Number(versionOf(pod))),
  };
  await listEach(client, { ...WAITING, metadataOnly: true }, visit, signal);
  return [...versions].sort(([, a], [, b]) => a - b).map(([uid]) => uid);
}

/** A pod that is bound is `Pending` until its containers run. */
function isStarted(pod: unknown): boolean {
  return text(property(property(pod, 'status'), 'phase')) !== 'Pending';
}

function waitingPod(pod: unknown, isGone: boolean): WaitingPod {
  const nominated = text(property(property(pod, 'status'), 'nominatedNodeName'));
  const nodeName = text(property(property(pod, 'spec'), 'nodeName'));
  return {
    uid: uidOf(pod),
    nominatedNodeName: nominated === '' ? undefined : nominated,
    nodeName: nodeName === '' ? undefined : nodeName,
    isOver: isGone || nodeName !== '',
  };
}
