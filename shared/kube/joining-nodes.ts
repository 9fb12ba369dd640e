import { INITIALIZED, NODE_POOL } from '../core/model/labels.ts';
import type { KubeClient } from './client.ts';
import type { Selection } from './list.ts';
import { RESOURCES } from './resources.ts';
import { watchOnce } from './watch.ts';

/** Of nodes that are at work nothing is heard: their heartbeats would end every pause. */
const JOINING: Selection = {
  resource: RESOURCES.nodes,
  labelSelector: `${NODE_POOL},!${INITIALIZED}`,
};

/** Passes over joining nodes follow each other no faster. */
const LEAST_MS = 250;

/** Notices nodes that join, from the first pause to the end. */
export interface JoiningNodes {
  /**
   * Waits so long, or until a node has joined or changed since the last pause: at least a moment,
   * so that a node that changes all the time is not looked at all the time.
   */
  pause(ms: number): Promise<void>;
  close(): Promise<void>;
}

export function joiningNodes(client: KubeClient): JoiningNodes {
  const over = new AbortController();
  let watching: Promise<void> | undefined;
  let change = Promise.withResolvers<void>();
  return {
    pause: async (ms) => {
      watching ??= follow(client, over.signal, () => change.resolve());
      const early = new AbortController();
      const least = Math.min(ms, LEAST_MS);
      await client.timing.sleep(least);
      await Promise.race([change.promise, client.timing.sleep(ms - least, early.signal)]);
      early.abort();
      change = Promise.withResolvers();
    },
    close: async () => {
      over.abort();
      await watching;
    },
  };
}

/** Without a resourceVersion the watch begins with the nodes that are there. */
async function follow(client: KubeClient, signal: AbortSignal, notice: () => void): Promise<void> {
  try {
    for await (const event of watchOnce(client, JOINING, { resourceVersion: '', signal })) {
      if (event.kind !== 'bookmark') notice();
    }
  } catch {
    // Pauses then last their time; whoever reads the cluster next meets the fault.
  }
}
