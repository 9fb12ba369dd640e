import { BUCKET_LAYOUT } from '../../contract.ts';
import { type DocumentKind, decodeDocument, MemoryDocument } from './document.ts';
import type { MemoryObjects } from './objects.ts';

/** How often other writers' files are looked at. */
const OTHERS_MS = 60_000;
/** More stacks than this share no bucket; what is beyond is not read. */
const WRITERS_MAX = 100;

/** A topic of which every stack writes its own file and reads all. */
export class SharedTopic<State> {
  readonly own: MemoryDocument<State>;
  private readonly objects: MemoryObjects;
  private readonly prefix: string;
  private readonly kind: DocumentKind<State>;
  private others: readonly State[] = [];
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    objects: MemoryObjects,
    place: { readonly region: string; readonly cluster: string; readonly topic: string },
    kind: DocumentKind<State>,
  ) {
    const { region, cluster, topic } = place;
    this.objects = objects;
    this.prefix = `${BUCKET_LAYOUT.shared(region)}${topic}/`;
    this.kind = kind;
    const key = BUCKET_LAYOUT.sharedFile(region, topic, cluster);
    this.own = new MemoryDocument(objects, key, kind);
  }

  /** Our own state first, then the others' by their names. */
  async read(): Promise<readonly State[]> {
    const isStale = this.objects.nowMs() >= this.readAtMs + OTHERS_MS;
    const [own, others] = await Promise.all([
      this.own.read(),
      isStale ? this.readOthers() : undefined,
    ]);
    if (others !== undefined) this.others = others;
    return [own, ...this.others];
  }

  /** Undefined: S3 did not answer, what was known before still counts. */
  private async readOthers(): Promise<readonly State[] | undefined> {
    const keys = await this.objects.keys(this.prefix);
    if (keys === undefined) return undefined;
    this.objects.tell(this.prefix, 'Usable');
    this.readAtMs = this.objects.nowMs();
    const files = keys.filter((key) => key.endsWith('.json') && key !== this.own.key).sort();
    const states = await Promise.all(
      files.slice(0, WRITERS_MAX).map(async (key) => {
        const found = await this.objects.read(key);
        if (found === undefined || found === 'absent') return [];
        return [decodeDocument(this.objects, key, found.body, this.kind)];
      }),
    );
    return states.flat();
  }
}
