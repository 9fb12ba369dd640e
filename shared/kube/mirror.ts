import type { Decoded, Issue } from '../api/issue.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault } from './errors.ts';
import { listCall, listEach, property, type Selection, text } from './list.ts';
import { watchOnce } from './watch.ts';

/** A decoded object and the version it was read at. */
export interface Entry<Value> {
  readonly resourceVersion: string;
  readonly value: Value;
}

/** An object that cannot be decoded is left out and told about; the others go on. */
export type OnInvalid = (object: string, issues: readonly Issue[]) => void;

export interface MirrorOptions<Value> {
  readonly client: KubeClient;
  readonly selection: Selection;
  readonly decode: (object: unknown) => Decoded<Value>;
  readonly onInvalid: OnInvalid;
  /** Keep the objects and catch up by a watch; else each read lists. @default false */
  readonly warm?: boolean;
  /** The kind need not be installed. @default false */
  readonly optional?: boolean;
}

/**
 * What the API server sent for a resourceVersion is in the stream at once; when nothing more comes
 * for this long after the watch was accepted, it has been read.
 */
const QUIET_MS = 60;
/** In a busy cluster it is never quiet: after this long the server is asked how far it is. */
const BUSY_MS = 150;
/** A catch-up that takes longer than this is slower than a list. */
const CATCH_UP_MS_MAX = 5_000;

/**
 * The objects of one kind as of the last read. Kept between reads where `warm`: the first read
 * lists, later ones watch from the last resourceVersion until they have caught up; a
 * resourceVersion that is too old, or a broken watch, lists again.
 */
export class Mirror<Value> {
  readonly #options: MirrorOptions<Value>;
  readonly #entries = new Map<string, Entry<Value>>();
  /** Of the last event or list; empty: nothing has been read yet. */
  #resourceVersion = '';
  /** Reads come one after the other: each sees what was written before it was asked for. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: MirrorOptions<Value>) {
    this.#options = options;
  }

  /** Whether the next read only catches up. */
  get isWarm(): boolean {
    return this.#options.warm === true && this.#resourceVersion !== '';
  }

  /** Keys are `namespace/name` or `name`. */
  read(): Promise<ReadonlyMap<string, Entry<Value>>> {
    const next = this.#last.then(() => this.#read());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #read(): Promise<ReadonlyMap<string, Entry<Value>>> {
    if (!this.isWarm || !(await this.#catchUp())) await this.#list();
    return new Map(this.#entries);
  }

  async #list(): Promise<void> {
    const { client, selection, optional } = this.#options;
    const visit = {
      start: () => this.#entries.clear(),
      object: (object: unknown) => this.#put(object),
    };
    try {
      this.#resourceVersion = await listEach(client, selection, visit);
    } catch (error) {
      this.#resourceVersion = '';
      this.#entries.clear();
      if (optional !== true || !isKubeFault(error, 'notFound')) throw error;
    }
  }

  /** False: only a list can tell what the objects are now. */
  async #catchUp(): Promise<boolean> {
    const { client, selection } = this.#options;
    const over = new AbortController();
    const startedAtMs = client.timing.nowMs();
    let lastMs: number | undefined;
    let openedMs = Number.POSITIVE_INFINITY;
    let hasAsked = false;
    /** Once an event is as new as this, everything before the question has been read. */
    let target = Number.POSITIVE_INFINITY;
    let failed = false;
    const onOpen = (): void => {
      openedMs = client.timing.nowMs();
      lastMs = openedMs;
    };
    const follow = async (): Promise<void> => {
      const options = { resourceVersion: this.#resourceVersion, signal: over.signal, onOpen };
      try {
        for await (const event of watchOnce(client, selection, options)) {
          lastMs = client.timing.nowMs();
          this.#resourceVersion = event.resourceVersion;
          if (event.kind === 'deleted') this.#entries.delete(keyOf(event.object));
          else if (event.kind !== 'bookmark') this.#put(event.object);
        }
      } catch {
        // Whatever it was, the list that follows meets it again or gets round it.
        failed = true;
      }
      failed ||= !over.signal.aborted;
      over.abort();
    };
    const followed = follow();
    while (!over.signal.aborted) {
      await client.timing.sleep(QUIET_MS / 3, over.signal);
      const nowMs = client.timing.nowMs();
      if (lastMs !== undefined && nowMs - lastMs >= QUIET_MS) break;
      if (Number(this.#resourceVersion) >= target) break;
      if (!hasAsked && nowMs - openedMs >= BUSY_MS) {
        hasAsked = true;
        void newestVersion(client, selection).then((version) => {
          target = version;
        });
      }
      if (nowMs - startedAtMs > CATCH_UP_MS_MAX) failed = true;
      if (failed) break;
    }
    over.abort();
    await followed;
    return !failed;
  }

  #put(object: unknown): void {
    const decoded = this.#options.decode(object);
    const key = keyOf(object);
    if (decoded.ok) {
      const resourceVersion = text(property(property(object, 'metadata'), 'resourceVersion'));
      this.#entries.set(key, { resourceVersion, value: decoded.value });
      return;
    }
    this.#entries.delete(key);
    this.#options.onInvalid(`${this.#options.selection.resource.kind}/${key}`, decoded.issues);
  }
}

/**
 * The resourceVersion that a list would have now; versions of one kind are comparable numbers.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
async function newestVersion(client: KubeClient, selection: Selection): Promise<number> {
  try {
    const list = await client.json(listCall({ ...selection, protobuf: false }, { limit: 1 }));
    const version = text(property(property(list, 'metadata'), 'resourceVersion'));
    return version === '' ? Number.POSITIVE_INFINITY : Number(version);
  } catch {
    // The stream then ends by being quiet, or by taking too long.
    return Number.POSITIVE_INFINITY;
  }
}

function keyOf(object: unknown): string {
  const metadata = property(object, 'metadata');
  const namespace = text(property(metadata, 'namespace'));
  const name = text(property(metadata, 'name'));
  return namespace === '' ? name : `${namespace}/${name}`;
}
