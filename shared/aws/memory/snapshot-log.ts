import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BUCKET_LAYOUT } from '../../contract.ts';
import { placeOf } from './decision-log.ts';
import type { MemoryObjects } from './objects.ts';

const compress = promisify(gzip);

/** Decisions of one invocation that are kept: each holds a picture of the cluster in memory. */
const KEPT_MAX = 8;

interface Kept {
  readonly atMs: number;
  readonly text: (joiner: string) => string;
}

/**
 * What decisions of an invocation were made from, an object of compressed JSON each below the
 * cluster's folder: `joiner replay` decides them again.
 */
export class SnapshotLog {
  private readonly objects: MemoryObjects;
  private readonly folder: string;
  private readonly joiner: string;
  private readonly kept = new Map<string, Kept>();

  constructor(objects: MemoryObjects, cluster: string, joiner: string) {
    this.objects = objects;
    this.folder = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.snapshots}`;
    this.joiner = joiner;
  }

  /** The text is made when it is written; beyond eight an invocation's are not kept. */
  add(name: string, atMs: number, text: Kept['text']): void {
    if (this.kept.size < KEPT_MAX) this.kept.set(name, { atMs, text });
  }

  /** Writes what was added since the last time; where S3 does not take it, it is dropped. */
  async flush(): Promise<void> {
    const all = [...this.kept];
    this.kept.clear();
    for (const [name, { atMs, text }] of all) {
      const body = await compress(text(this.joiner));
      const key = `${this.folder}${placeOf(atMs)}-${name}.json.gz`;
      const written = await this.objects.write(key, body, undefined, this.folder);
      if (written !== 'failed') this.objects.tell(this.folder, 'Usable');
    }
  }
}
