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
import { RESOURCES } from './resources.ts';
import { watchOnce } from './watch.ts';

/** A pod that gets a node leaves the selection: the API server says that it is deleted. */
const WAITING: Selection = {
  resource: RESOURCES.pods,
  fieldSelector: 'spec.nodeName=',
  shape: POD,
  protobuf: true,
};

/** kube-scheduler comes to the next pod sooner. */
const QUIET_MS = 150;
/** Nodes are not kept closed for longer, however long it takes kube-scheduler. */
const QUIET_MS_MAX = 750;
/** Nor for an API server that does not answer: what it was asked is done without. */
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
  const follow = async (): Promise<void> => {
    try {
      for await (const event of watchOnce(client, WAITING, { resourceVersion, signal, onOpen })) {
        lastMs = timing.nowMs();
        if (event.kind !== 'bookmark') {
          listener.told(waitingPod(event.object, event.kind === 'deleted'));
        }
      }
    } catch {
      // Whoever reads the cluster next meets the fault.
    }
    isOver = true;
    open.resolve();
    listener.over();
  };
  void follow();
  await Promise.race([open.promise, timing.sleep(ANSWER_MS_MAX, signal)]);
  return {
    quiet: async () => {
      const endMs = timing.nowMs() + QUIET_MS_MAX;
      const leftMs = (): number => Math.min(lastMs + QUIET_MS, endMs) - timing.nowMs();
      while (!isOver && !signal.aborted && leftMs() > 0) await timing.sleep(leftMs(), signal);
      return await inOrderOfWrites(client, answering(signal));
    },
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

function waitingPod(pod: unknown, isOver: boolean): WaitingPod {
  const nominated = text(property(property(pod, 'status'), 'nominatedNodeName'));
  return {
    uid: uidOf(pod),
    nominatedNodeName: nominated === '' ? undefined : nominated,
    isOver,
  };
}
