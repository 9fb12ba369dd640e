import { BufferTargets } from './buffer-looks.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault } from './errors.ts';
import { listEach } from './list.ts';
import { backoffMs } from './time.ts';
import { type Source, type WakeUp, wakeSources } from './wake-sources.ts';
import { watchOnce } from './watch.ts';

/**
 * A watch that fails so often in a row, without an event in between, lists again: its
 * resourceVersion may be what the server fails at, and the API server's own clients list after
 * any fault of a watch.
 */
const FAILURES_MAX = 5;

/** Between two looks at what CapacityBuffers name. Karpenter looks at buffers every 30 s. */
const LOOK_MS = 10_000;

export interface WakeUpOptions {
  readonly client: KubeClient;
  /** Called for every change that concerns somebody; must not throw. */
  readonly wake: (kind: WakeUp) => void;
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /** Called once when every list is done: the watch before may then let go. */
  readonly onReady?: () => void;
}

/**
 * Watches what functions wait for until the signal aborts. What a list finds counts as a change:
 * nothing that happened while nobody watched is lost. A broken watch goes on from where it was, or
 * lists again where that is too long ago or fails again and again.
 */
export async function watchWakeUps(options: WakeUpOptions): Promise<void> {
  const targets = new BufferTargets();
  const all = wakeSources(targets);
  let listed = 0;
  const ready = (): void => {
    listed += 1;
    if (listed === all.length) options.onReady?.();
  };
  const looking = lookAtTargets(targets, options);
  await Promise.all([...all.map((source) => follow(source, options, ready)), looking]);
}

async function follow(source: Source, options: WakeUpOptions, ready: () => void): Promise<void> {
  const { client, signal, wake } = options;
  let resourceVersion: string | undefined;
  let isFirst = true;
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (resourceVersion === undefined) {
        resourceVersion = await listed(client, source, wake);
        if (isFirst) ready();
        isFirst = false;
      }
      let isSilent = true;
      for await (const event of watchOnce(client, source.selection, { resourceVersion, signal })) {
        isSilent = false;
        failures = 0;
        resourceVersion = event.resourceVersion;
        const kinds = event.kind === 'bookmark' ? [] : source.meaning(event);
        for (const kind of kinds) wake(kind);
      }
      if (!isSilent) continue;
    } catch (error) {
      // A kind whose definition is not installed has nothing to watch; look again now and then.
      if (isKubeFault(error, 'gone') || isKubeFault(error, 'notFound')) resourceVersion = undefined;
      if (isKubeFault(error, 'notFound') && isFirst) {
        ready();
        isFirst = false;
      }
      if (isKubeFault(error, 'forbidden')) throw error;
    }
    // An API server that is about to stop takes watches and ends them at once, without a fault.
    failures += 1;
    if (failures % FAILURES_MAX === 0) resourceVersion = undefined;
    await client.timing.sleep(backoffMs(failures, client.timing.random(), undefined), signal);
  }
}

async function listed(
  client: KubeClient,
  { selection, meaning }: Source,
  wake: WakeUpOptions['wake'],
): Promise<string> {
  let found = new Set<WakeUp>();
  const resourceVersion = await listEach(client, selection, {
    start: () => {
      found = new Set();
    },
    object: (object) => {
      const kinds = meaning({ kind: 'modified', object, resourceVersion: '' });
      for (const kind of kinds) found.add(kind);
    },
  });
  for (const kind of found) wake(kind);
  return resourceVersion;
}

async function lookAtTargets(
  targets: BufferTargets,
  { client, signal, wake }: WakeUpOptions,
): Promise<void> {
  while (!signal.aborted) {
    await client.timing.sleep(LOOK_MS, signal);
    if (signal.aborted) return;
    // Where the server cannot answer, the next look finds what has changed meanwhile.
    const isNews = await targets.look(client).catch(() => false);
    if (isNews) wake('capacitybuffer-changed');
  }
}
