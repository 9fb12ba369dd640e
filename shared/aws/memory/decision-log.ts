import { BUCKET_LAYOUT } from '../../contract.ts';
import type { DecisionRecord } from '../../ports.ts';
import type { MemoryObjects } from './objects.ts';

/** `2026-01-01/10-20-30.400`: names sort by time, and a day is a folder. */
export function placeOf(atMs: number): string {
  const [day = '', time = ''] = new Date(atMs).toISOString().replace('Z', '').split('T');
  return `${day}/${time.replaceAll(':', '-')}`;
}

/** Decisions of an invocation, kept as one object of JSON lines below the cluster's folder. */
export class DecisionLog {
  private readonly objects: MemoryObjects;
  private readonly folder: string;
  private readonly records = new Map<string, DecisionRecord>();

  constructor(objects: MemoryObjects, cluster: string) {
    this.objects = objects;
    this.folder = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.decisions}`;
  }

  /** A decision that is told twice is kept once. */
  add(record: DecisionRecord): void {
    this.records.set(record.id, record);
  }

  /** Writes what was added since the last time; where S3 does not take it, it is dropped. */
  async flush(): Promise<void> {
    const records = [...this.records.values()];
    const [first] = records;
    if (first === undefined) return;
    this.records.clear();
    const name = `${first.useCase}-${first.id.replaceAll(/[^\w.-]/g, '-')}`;
    const key = `${this.folder}${placeOf(first.atMs)}-${name}.ndjson`;
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    // An object of that name holds the same decisions: an invocation that was repeated.
    const body = new TextEncoder().encode(lines);
    const written = await this.objects.write(key, body, undefined, this.folder);
    if (written !== 'failed') this.objects.tell(this.folder, 'Usable');
  }
}
