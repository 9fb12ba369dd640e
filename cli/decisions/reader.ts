import { type ReadDecision, recordsOf } from '../../shared/api/decision-record.ts';
import { atOnce } from '../../shared/app/writes/at-once.ts';
import type { AwsAccess } from '../../shared/aws/access.ts';
import { placeOf } from '../../shared/aws/memory/decision-log.ts';
import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { BucketObjects } from '../bucket-objects.ts';

/** An invocation of a function lasts no longer; its object is named after its first decision. */
const INVOCATION_MS_MAX = 15 * 60_000;
const READS_AT_ONCE = 16;

/** In order of time; those of one moment by id. */
function inOrder(a: ReadDecision, b: ReadDecision): number {
  return a.atMs - b.atMs || (a.id < b.id ? -1 : 1);
}

/** The decision records that the functions of a cluster have written to their bucket. */
export class DecisionReader {
  /** What could not be read, a line each. */
  readonly notes: string[] = [];
  private readonly bucket: BucketObjects;
  private readonly folder: string;
  /** Keys that were read: what is written once does not change. */
  private readonly known = new Set<string>();
  private readonly told = new Set<string>();
  /** When the names were last read; what is written later is of an invocation that lasted then. */
  private listedMs = Number.NEGATIVE_INFINITY;

  constructor(access: AwsAccess, bucket: string, cluster: string) {
    this.folder = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.decisions}`;
    this.bucket = new BucketObjects(access, bucket);
  }

  nowMs(): number {
    return this.bucket.objects.nowMs();
  }

  /** Records of this time and later that no call before has returned; throws where S3 refuses. */
  async since(sinceMs: number): Promise<readonly ReadDecision[]> {
    const fromMs = Math.max(sinceMs, this.listedMs) - INVOCATION_MS_MAX;
    const keys = await this.newKeys(fromMs);
    const byKey = new Map<string, readonly ReadDecision[]>();
    await atOnce(READS_AT_ONCE, keys, async (key) => {
      byKey.set(key, await this.read(key));
    });
    return keys
      .flatMap((key) => byKey.get(key) ?? [])
      .filter(({ id, atMs }) => atMs >= sinceMs && this.isFirst(`${id} ${atMs}`))
      .sort(inOrder);
  }

  private async newKeys(fromMs: number): Promise<readonly string[]> {
    const nowMs = this.nowMs();
    const keys = await this.bucket.keysOfSpan(this.folder, fromMs, nowMs);
    this.listedMs = nowMs;
    const first = `${this.folder}${placeOf(fromMs)}`;
    return keys.filter((key) => key >= first && !this.known.has(key));
  }

  private async read(key: string): Promise<readonly ReadDecision[]> {
    const object = this.bucket.answered(await this.bucket.objects.read(key));
    this.known.add(key);
    // It has expired since it was listed.
    if (object === 'absent') return [];
    const { records, faulty } = recordsOf(new TextDecoder().decode(object.body));
    if (faulty > 0) this.notes.push(`${key}: ${faulty} of its records cannot be read`);
    return records;
  }

  /** An invocation that was repeated writes its decisions twice. */
  private isFirst(text: string): boolean {
    if (this.told.has(text)) return false;
    this.told.add(text);
    return true;
  }
}
