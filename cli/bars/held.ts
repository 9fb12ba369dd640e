import { type AwsAccess, s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { BARS } from '../../shared/aws/memory/bars.ts';
import { decodeDocument, MemoryDocument } from '../../shared/aws/memory/document.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { type Bar, barKey, withoutBars } from '../../shared/core/launch/bars.ts';

const TOPIC = 'unavailable';
/** A person waits longer than a function does. */
const TIMEOUT_MS = 10_000;

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
  private readonly objects: MemoryObjects;
  private readonly region: string;
  private readonly problems: string[] = [];

  constructor(access: AwsAccess, bucket: string) {
    this.region = access.region;
    this.objects = new MemoryObjects({
      s3: s3Client(access),
      bucket,
      calls: new Calls(),
      report: ({ reason, message }) => {
        if (reason !== 'Usable') this.problems.push(message);
      },
      timeoutMs: TIMEOUT_MS,
    });
  }

  nowMs(): number {
    return this.objects.nowMs();
  }

  /** What bars something now, by key. */
  async read(): Promise<readonly HeldBar[]> {
    const prefix = `${BUCKET_LAYOUT.shared(this.region)}${TOPIC}/`;
    const keys = this.known(await this.objects.keys(prefix));
    const held: HeldBar[] = [];
    for (const key of keys.filter((each) => each.endsWith('.json')).sort()) {
      const found = this.known(await this.objects.read(key));
      if (found === 'absent') continue;
      const cluster = key.slice(prefix.length, -'.json'.length);
      const state = decodeDocument(this.objects, key, found.body, BARS);
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
    const document = new MemoryDocument(this.objects, key, BARS);
    document.change((state) => withoutBars(state, (_, bar) => isMeant(shownKey(bar))));
    await document.flush();
    if (this.problems.length > 0) throw new Error(this.problems.join('; '));
  }

  private known<Answer>(answer: Answer | undefined): Answer {
    if (answer === undefined) throw new Error(this.problems.join('; '));
    return answer;
  }
}
