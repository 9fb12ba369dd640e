import type { Decoded, Issue } from '../api/issue.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault } from './errors.ts';
import { IDENTITY } from './fields.ts';
import { listEach, newestVersion, property, type Selection, text, versionOf } from './list.ts';
import { watchOnce } from './watch.ts';

/** A decoded object and the version it was read at. */
export interface CachedObject<Value> {
  readonly resourceVersion: string;
  readonly value: Value;
}

/** An object that cannot be decoded is told about; the others go on. */
export type OnInvalid = (object: string, issues: readonly Issue[]) => void;

export interface InformerOptions<Value> {
  readonly client: KubeClient;
  readonly selection: Selection;
  readonly decode: (object: unknown) => Decoded<Value>;
  readonly onInvalid: OnInvalid;
  /** Keep the objects and catch up by a watch; else each read lists. @default false */
  readonly warm?: boolean;
  /** The kind need not be installed. @default false */
  readonly optional?: boolean;
  /**
   * What becomes of objects that cannot be decoded. They are kept, as far as they could be read,
   * where one that is not there would be a permission: to end an instance, to use a node's room.
   * @default 'left out'
   */
  readonly faulty?: 'kept' | 'left out';
  /**
   * Those that may not be missed: a warm read has them as they were when it began, or newer. Only
   * what may be missed is left to the silence of the stream.
   */
  readonly probe?: MustSee<Value> | 'all';
}

/** Objects of a kind that the server can look for, and how they are told from the others. */
export interface MustSee<Value> {
  readonly fieldSelector: string;
  readonly holds: (value: Value) => boolean;
}

/** What the server says of itself while a catch-up is under way. */
interface Answer {
  /**
   * Once an event is as new as this, everything before the question has been read. Infinite: the
   * question was not answered.
   */
  readonly version: number;
  /** What a probe has found, with the versions. */
  readonly found: ReadonlyMap<string, string>;
}

/**
 * What the API server has for a resourceVersion it sends at once. When nothing has come for this
 * long after the watch was accepted, it has been read. Looks are counted, too: a process that was
 * not given the processor sees that time is up before it sees what has come.
 */
const QUIET_MS = 60;
const QUIET_LOOKS = 2;
const LOOK_MS = 20;
/** In a busy cluster it is never quiet: after this long the server is asked how far it is. */
const BUSY_MS = 150;
/**
 * A catch-up that takes longer than this is slower than a list. Where only the question is slow,
 * silence decides instead: a server that has too much to do is not asked for everything as well.
 */
const CATCH_UP_MS_MAX = 5_000;

/**
 * The objects of one kind as of the last read. Kept between reads where `warm`: the first read
 * lists, later ones watch from the last resourceVersion until they have caught up; a
 * resourceVersion that is too old, or a broken watch, lists again.
 */
export class Informer<Value> {
  readonly #options: InformerOptions<Value>;
  readonly #entries = new Map<string, CachedObject<Value>>();
  /** Versions of those that are left out. */
  readonly #invalid = new Map<string, string>();
  /** Of the last event or list; empty: nothing has been read yet. */
  #resourceVersion = '';
  /** Reads come one after the other: each sees what was written before it was asked for. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: InformerOptions<Value>) {
    this.#options = options;
  }

  /** Whether the next read only catches up. */
  get isWarm(): boolean {
    return this.#options.warm === true && this.#resourceVersion !== '';
  }

  /** Keys are `namespace/name` or `name`. */
  read(): Promise<ReadonlyMap<string, CachedObject<Value>>> {
    const next = this.#last.then(() => this.#read());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #read(): Promise<ReadonlyMap<string, CachedObject<Value>>> {
    if (!this.isWarm || !(await this.#catchUp())) await this.#list();
    return new Map(this.#entries);
  }

  async #list(): Promise<void> {
    const { client, selection, optional } = this.#options;
    const visit = {
      start: () => this.#clear(),
      object: (object: unknown) => this.#put(object),
    };
    try {
      this.#resourceVersion = await listEach(client, selection, visit);
    } catch (error) {
      this.#resourceVersion = '';
      this.#clear();
      if (optional !== true || !isKubeFault(error, 'notFound')) throw error;
    }
  }

  /** False: only a list can tell what the objects are now. */
  async #catchUp(): Promise<boolean> {
    const { timing } = this.#options.client;
    const over = new AbortController();
    const startedAtMs = timing.nowMs();
    const stream = { openedMs: Number.POSITIVE_INFINITY, lastMs: 0, isBroken: false };
    const followed = this.#follow(over, stream);
    let answer: Answer | undefined;
    let hasAsked = false;
    const ask = (): void => {
      hasAsked = true;
      void this.#ask(over.signal).then((each) => {
        answer = each;
      });
    };
    if (this.#options.probe !== undefined) ask();
    let quiet = 0;
    let lastMs = 0;
    let verdict: 'read' | 'list' | undefined;
    while (verdict === undefined && !stream.isBroken) {
      await timing.sleep(LOOK_MS, over.signal);
      const nowMs = timing.nowMs();
      quiet = nowMs >= stream.openedMs && stream.lastMs === lastMs ? quiet + 1 : 0;
      lastMs = stream.lastMs;
      const isQuiet = quiet >= QUIET_LOOKS && nowMs - lastMs >= QUIET_MS;
      verdict = this.#verdict(answer, isQuiet, nowMs - startedAtMs > CATCH_UP_MS_MAX);
      if (!hasAsked && nowMs - stream.openedMs >= BUSY_MS) ask();
    }
    over.abort();
    await followed;
    return verdict === 'read' && !stream.isBroken;
  }

  /** What a look says: all is read, only a list can tell, or, undefined, neither yet. */
  #verdict(
    answer: Answer | undefined,
    isQuiet: boolean,
    isLate: boolean,
  ): 'read' | 'list' | undefined {
    if (answer !== undefined && Number(this.#resourceVersion) >= answer.version) return 'read';
    if (this.#options.probe === 'all') {
      if (answer?.version === Number.POSITIVE_INFINITY) return 'list';
      if (answer !== undefined && this.#agrees(answer)) return 'read';
      return isLate ? 'list' : undefined;
    }
    if (isQuiet && this.#agrees(answer)) return 'read';
    if (!isLate) return undefined;
    return isQuiet && answer === undefined ? 'read' : 'list';
  }

  /** Takes what the watch tells until it is over. */
  async #follow(
    over: AbortController,
    stream: { openedMs: number; lastMs: number; isBroken: boolean },
  ): Promise<void> {
    const { client, selection } = this.#options;
    const onOpen = (): void => {
      stream.openedMs = client.timing.nowMs();
      stream.lastMs = stream.openedMs;
    };
    const options = { resourceVersion: this.#resourceVersion, signal: over.signal, onOpen };
    try {
      for await (const event of watchOnce(client, selection, options)) {
        stream.lastMs = client.timing.nowMs();
        this.#resourceVersion = event.resourceVersion;
        if (event.kind === 'deleted') this.#remove(keyOf(event.object));
        else if (event.kind !== 'bookmark') this.#put(event.object);
      }
    } catch {
      // Whatever it was, the list that follows meets it again or gets round it.
      stream.isBroken = true;
    }
    stream.isBroken ||= !over.signal.aborted;
    over.abort();
  }

  /**
   * What a list would have now: of the probe all, else only the version. Versions of one kind are
   * comparable numbers.
   * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
   */
  async #ask(signal: AbortSignal): Promise<Answer> {
    const { client, selection, probe } = this.#options;
    const found = new Map<string, string>();
    const visit = {
      start: () => found.clear(),
      object: (object: unknown) => found.set(keyOf(object), versionOf(object)),
    };
    const narrowed = {
      ...(probe === 'all' ? {} : { fieldSelector: probe?.fieldSelector ?? '' }),
      shape: IDENTITY,
      protobuf: true,
      metadataOnly: true,
    };
    try {
      const version =
        probe === undefined
          ? await newestVersion(client, selection, signal)
          : await listEach(client, { ...selection, ...narrowed }, visit, signal);
      return { version: version === '' ? Number.POSITIVE_INFINITY : Number(version), found };
    } catch {
      // The stream then ends by being quiet, or by taking too long.
      return { version: Number.POSITIVE_INFINITY, found: new Map() };
    }
  }

  /** Whether the stream has told of everything that the probe has found, and of what it has not. */
  #agrees(answer: Answer | undefined): boolean {
    const { probe } = this.#options;
    if (probe === undefined) return true;
    if (answer === undefined) return false;
    if (!Number.isFinite(answer.version)) return true;
    for (const [key, version] of answer.found) {
      const known = this.#entries.get(key)?.resourceVersion ?? this.#invalid.get(key);
      if (!(Number(known) >= Number(version))) return false;
    }
    for (const [key, { resourceVersion, value }] of this.#entries) {
      const isOld = Number(resourceVersion) <= answer.version;
      const isSought = probe === 'all' || probe.holds(value);
      if (isOld && !answer.found.has(key) && isSought) return false;
    }
    return true;
  }

  #clear(): void {
    this.#entries.clear();
    this.#invalid.clear();
  }

  #remove(key: string): void {
    this.#entries.delete(key);
    this.#invalid.delete(key);
  }

  #put(object: unknown): void {
    const decoded = this.#options.decode(object);
    const key = keyOf(object);
    const resourceVersion = versionOf(object);
    if (decoded.ok) {
      this.#invalid.delete(key);
      this.#entries.set(key, { resourceVersion, value: decoded.value });
      return;
    }
    const isKept = this.#options.faulty === 'kept' && decoded.partial !== undefined;
    if (isKept) this.#entries.set(key, { resourceVersion, value: decoded.partial });
    else this.#entries.delete(key);
    this.#invalid.set(key, resourceVersion);
    this.#options.onInvalid(`${this.#options.selection.resource.kind}/${key}`, decoded.issues);
  }
}

function keyOf(object: unknown): string {
  const metadata = property(object, 'metadata');
  const namespace = text(property(metadata, 'namespace'));
  const name = text(property(metadata, 'name'));
  return namespace === '' ? name : `${namespace}/${name}`;
}
