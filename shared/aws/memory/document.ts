import type * as z from 'zod';
import { parsedJson } from '../../core/parsed-json.ts';
import type { MemoryObjects } from './objects.ts';

/** How a state is kept as JSON. */
export interface DocumentKind<State> {
  readonly empty: State;
  /** Undefined: it is no such document. `rejected`: entries that cannot be true, left out. */
  readonly decode: (
    json: unknown,
    nowMs: number,
  ) => { readonly state: State; readonly rejected: number } | undefined;
  readonly encode: (state: State) => unknown;
}

/** The entries that read as the schema says, and the number of those that do not. */
export function readEntries<Entry>(
  entries: readonly unknown[],
  schema: z.ZodType<Entry>,
): { readonly entries: readonly Entry[]; readonly rejected: number } {
  const read = entries.flatMap((each) => {
    const { success, data } = schema.safeParse(each);
    return success ? [data] : [];
  });
  return { entries: read, rejected: entries.length - read.length };
}

/** What a document needs of the bucket. */
export type DocumentObjects = Pick<MemoryObjects, 'nowMs' | 'read' | 'tell' | 'write'>;

/** Returns the same state where nothing changes. */
export type Change<State> = (state: State) => State;

/** How old a state may be that is answered without asking S3. */
const FRESH_MS = 5_000;
const ATTEMPTS_MAX = 5;
const NEVER = Number.NEGATIVE_INFINITY;

export function decodeDocument<State>(
  objects: Pick<MemoryObjects, 'nowMs' | 'tell'>,
  key: string,
  body: Uint8Array,
  kind: DocumentKind<State>,
): State {
  const decoded = kind.decode(parsedJson(new TextDecoder().decode(body)), objects.nowMs());
  if (decoded === undefined) objects.tell(key, 'Invalid', `${key} is no document of this kind`);
  else if (decoded.rejected === 0) objects.tell(key, 'Usable');
  else objects.tell(key, 'Invalid', `${key}: ${decoded.rejected} entries cannot be true`);
  return decoded?.state ?? kind.empty;
}

/**
 * One object of the bucket that several functions change. Changes count for this process at once
 * and are written behind it; where S3 does not take them they are dropped when it answers again.
 */
export class MemoryDocument<State> {
  readonly key: string;
  private readonly objects: DocumentObjects;
  private readonly kind: DocumentKind<State>;
  /** As last read or written, and what this process made of it while S3 was away. */
  private base: State;
  /** Of `base` in the bucket; undefined: there is no object. */
  private etag: string | undefined;
  private readAtMs = NEVER;
  /** Counts writes: what was asked for before one may be older than it. */
  private writes = 0;
  private pending: readonly Change<State>[] = [];
  private writing: Promise<void> | undefined;

  constructor(objects: DocumentObjects, key: string, kind: DocumentKind<State>) {
    this.objects = objects;
    this.key = key;
    this.kind = kind;
    this.base = kind.empty;
  }

  async read(): Promise<State> {
    if (this.readAtMs === NEVER) await this.writing;
    const isFresh = this.objects.nowMs() < this.readAtMs + FRESH_MS;
    if (!isFresh && this.writing === undefined) await this.load();
    return this.applied(this.pending);
  }

  /** The next read asks S3, however lately another one did. */
  expire(): void {
    // Before the first read there is nothing to forget, and a write may be on its way.
    if (this.readAtMs !== NEVER) this.readAtMs = this.objects.nowMs() - FRESH_MS;
  }

  change(change: Change<State>): void {
    this.pending = [...this.pending, change];
    this.start();
  }

  /** Resolves when everything is written or dropped. */
  async flush(): Promise<void> {
    while (this.writing !== undefined) await this.writing;
  }

  private start(): void {
    this.writing ??= this.write().finally(() => {
      this.writing = undefined;
      if (this.pending.length > 0) this.start();
    });
  }

  private applied(changes: readonly Change<State>[]): State {
    return changes.reduce((state, change) => change(state), this.base);
  }

  /** Whether S3 answered. */
  private async load(): Promise<boolean> {
    const { writes } = this;
    const found = await this.objects.read(this.key);
    if (found === undefined) return false;
    if (writes !== this.writes) return true;
    this.readAtMs = this.objects.nowMs();
    this.etag = found === 'absent' ? undefined : found.etag;
    if (found === 'absent') this.objects.tell(this.key, 'Usable');
    this.base =
      found === 'absent'
        ? this.kind.empty
        : decodeDocument(this.objects, this.key, found.body, this.kind);
    return true;
  }

  private async write(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX && this.pending.length > 0; ) {
      const isKnown = this.readAtMs !== NEVER || (await this.load());
      const taken = this.pending;
      const next = this.applied(taken);
      if (!isKnown) return this.keepHere(next, taken.length);
      if (next === this.base) {
        this.keepHere(next, taken.length);
        continue;
      }
      const body = new TextEncoder().encode(JSON.stringify(this.kind.encode(next)));
      const written = await this.objects.write(this.key, body, this.etag);
      if (written === 'failed') return this.forgetRemote(next, taken.length);
      if (written === 'conflict') {
        attempt += 1;
        this.readAtMs = NEVER;
        continue;
      }
      this.keepHere(next, taken.length);
      this.writes += 1;
      this.etag = written.etag;
      this.readAtMs = this.objects.nowMs();
      this.objects.tell(this.key, 'Usable');
    }
    if (this.pending.length === 0) return;
    const message = `${this.key} was changed by others ${ATTEMPTS_MAX} times in a row`;
    this.objects.tell(this.key, 'Contended', message);
    this.forgetRemote(this.applied(this.pending), this.pending.length);
  }

  private keepHere(state: State, changes: number): void {
    this.base = state;
    this.pending = this.pending.slice(changes);
  }

  private forgetRemote(state: State, changes: number): void {
    this.keepHere(state, changes);
    this.readAtMs = NEVER;
  }
}
