import type { Call, KubeClient } from './client.ts';
import { classifyStatus, KubeError, unreachable } from './errors.ts';
import { splitLines } from './lines.ts';
import { eventType, listCall, property, read, type Selection, text, versionOf } from './list.ts';
import type { Timing } from './time.ts';

/** One change, in the order in which the API server made them. */
export type WatchEvent =
  | {
      readonly kind: 'added' | 'modified' | 'deleted';
      /** Projected; of a deleted object its last state. */
      readonly object: unknown;
      readonly resourceVersion: string;
    }
  /** Everything up to here has been sent. */
  | { readonly kind: 'bookmark'; readonly resourceVersion: string };

/** An event about an object. */
export type Change = Exclude<WatchEvent, { readonly kind: 'bookmark' }>;

export interface WatchOptions {
  readonly resourceVersion: string;
  /** Ends the watch; the loop over it then just ends. */
  readonly signal?: AbortSignal;
  /** The server ends the watch after this long. @default 14 min, as long as any function lives */
  readonly timeoutSeconds?: number;
  /** Called when the server has accepted the watch, before the first event. */
  readonly onOpen?: () => void;
}

const TIMEOUT_SECONDS = 14 * 60;
/**
 * The server sends a bookmark a minute; silence for longer means that the connection is dead
 * although nobody said so (a frozen sandbox, a load balancer that forgot it).
 */
const STALL_MS = 90_000;

const KINDS: ReadonlyMap<string, 'added' | 'modified' | 'deleted'> = new Map([
  ['ADDED', 'added'],
  ['MODIFIED', 'modified'],
  ['DELETED', 'deleted'],
] as const);

/**
 * One watch connection from a resourceVersion. It ends when the server ends it or the signal
 * aborts, and throws a {@link KubeError}: `gone` where the resourceVersion is too old,
 * `unavailable` where the connection breaks or stalls.
 */
export async function* watchOnce(
  client: KubeClient,
  selection: Selection,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const { signal } = options;
  const call = watchCall(selection, options);
  const response = await client.open(call).catch((error: unknown) => {
    if (signal?.aborted) return undefined;
    throw error;
  });
  if (response === undefined) return;
  const over = new AbortController();
  const cancel = (): void => response.cancel();
  if (signal?.aborted) {
    cancel();
    return;
  }
  signal?.addEventListener('abort', cancel, { once: true });
  const stall = watchdog(client.timing, over.signal, cancel);
  options.onOpen?.();
  try {
    for await (const line of splitLines(touching(response.body, stall.touch))) {
      yield decodeEvent(call, line, selection);
    }
    if (stall.isStalled()) throw stalled(call);
  } catch (cause) {
    if (cause instanceof KubeError) throw cause;
    if (stall.isStalled()) throw stalled(call);
    if (!signal?.aborted) throw unreachable(call.asked, cause);
  } finally {
    over.abort();
    signal?.removeEventListener('abort', cancel);
  }
}

function watchCall(selection: Selection, options: WatchOptions): Call {
  const call = listCall(
    { ...selection, protobuf: false },
    {
      watch: 1,
      allowWatchBookmarks: true,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds ?? TIMEOUT_SECONDS,
    },
  );
  const { signal } = options;
  const asked = { ...call.asked, verb: 'watch' } as const;
  return { ...call, asked, accept: eventType(selection), silenceMsMax: 0, signal };
}

function stalled(call: Call): KubeError {
  return unreachable(call.asked, new Error(`the watch was silent for ${STALL_MS / 1000} s`));
}

async function* touching(
  body: AsyncIterable<Uint8Array>,
  touch: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    touch();
    yield chunk;
  }
}

/** Cancels a connection on which nothing came for too long. One timer at a time, not one a chunk. */
function watchdog(
  timing: Timing,
  over: AbortSignal,
  cancel: () => void,
): { readonly touch: () => void; readonly isStalled: () => boolean } {
  let lastMs = timing.nowMs();
  let isStalled = false;
  const guard = async (): Promise<void> => {
    while (!over.aborted) {
      const leftMs = lastMs + STALL_MS - timing.nowMs();
      if (leftMs <= 0) {
        isStalled = true;
        cancel();
        return;
      }
      await timing.sleep(leftMs, over);
    }
  };
  void guard();
  return {
    touch: () => {
      lastMs = timing.nowMs();
    },
    isStalled: () => isStalled,
  };
}

function decodeEvent(call: Call, line: string, selection: Selection): WatchEvent {
  const parsed: unknown = JSON.parse(line);
  const type = text(property(parsed, 'type'));
  const object = property(parsed, 'object');
  if (type === 'ERROR') throw classifyStatus(call.asked, object);
  const resourceVersion = versionOf(object);
  if (type === 'BOOKMARK') return { kind: 'bookmark', resourceVersion };
  const kind = KINDS.get(type);
  if (kind === undefined) throw new Error(`the watch sent an event of type '${type}'`);
  return { kind, object: read(object, selection.shape), resourceVersion };
}
