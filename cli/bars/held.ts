import type { AwsAccess } from '../../shared/aws/access.ts';
import { BARS } from '../../shared/aws/memory/bars.ts';
import { decodeDocument, MemoryDocument } from '../../shared/aws/memory/document.ts';
import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { type Bar, barKey, withoutBars } from '../../shared/core/launch/bars.ts';
import { BucketObjects } from '../bucket-objects.ts';

const TOPIC = 'unavailable';

/** A bar, and the stack that has written it. */
export interface HeldBar {
  readonly key: string;
  readonly cluster: string;
  readonly bar: Bar;
}

/** Key as people see it: without the ends that hold nothing. */
export function shownKey(bar: Bar): string {
  return barKey(bar).replace(/\/+$/, '');
}

/** The bars that the stacks of a region share in their bucket. */
export class HeldBars {
  private readonly bucket: BucketObjects;
  private readonly region: string;

  constructor(access: AwsAccess, bucket: string) {
    this.region = access.region;
    this.bucket = new BucketObjects(access, bucket);
  }

  nowMs(): number {
    return this.bucket.objects.nowMs();
  }

  /** What bars something now, by key. */
  async read(): Promise<readonly HeldBar[]> {
    const prefix = `${BUCKET_LAYOUT.shared(this.region)}${TOPIC}/`;
    const keys = this.bucket.answered(await this.bucket.objects.keys(prefix));
    const held: HeldBar[] = [];
    for (const key of keys.filter((each) => each.endsWith('.json')).sort()) {
      const found = this.bucket.answered(await this.bucket.objects.read(key));
      if (found === 'absent') continue;
      const cluster = key.slice(prefix.length, -'.json'.length);
      const state = decodeDocument(this.bucket.objects, key, found.body, BARS);
      for (const bar of state.values()) held.push({ key: shownKey(bar), cluster, bar });
    }
    const nowMs = this.nowMs();
    return held
      .filter(({ bar }) => nowMs < bar.untilMs)
      .sort((a, b) => (`${a.key} ${a.cluster}` < `${b.key} ${b.cluster}` ? -1 : 1));
  }

  /** Takes those of one stack away, as the functions themselves do. */
  async forget(cluster: string, isMeant: (key: string) => boolean): Promise<void> {
    const key = BUCKET_LAYOUT.sharedFile(this.region, TOPIC, cluster);
    const document = new MemoryDocument(this.bucket.objects, key, BARS);
    document.change((state) => withoutBars(state, (_, bar) => isMeant(shownKey(bar))));
    await document.flush();
    this.bucket.checkAnswers();
  }
}
