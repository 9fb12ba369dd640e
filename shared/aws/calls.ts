import { setTimeout as sleep } from 'node:timers/promises';
import type { PortError } from '../ports/fault.ts';
import { mayRetry, portError } from './faults.ts';
import { type Pace, type Timing, TokenBucket } from './token-bucket.ts';

/**
 * EC2's buckets, an account and region each; half of what it grants to mutating calls, as others
 * in the account call too.
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
 */
const READ: Pace = { size: 50, perSecond: 10 };
const WRITE: Pace = { size: 25, perSecond: 5 };

/** How long a throttled or interrupted call waits before its one retry. */
export const RETRY_MS = 500;

const SYSTEM: Timing = {
  nowMs: () => Date.now(),
  sleep: async (ms) => {
    await sleep(ms);
  },
};

/** Every call to AWS goes through here: paced by its action, retried once, faults classified. */
export class Calls {
  readonly timing: Timing;
  private readonly onFault: (fault: PortError) => void;
  private readonly buckets = new Map<string, TokenBucket>();
  private readonly role: string | undefined;
  private readonly deadline: () => AbortSignal | undefined;

  /**
   * `onFault` hears of every call that failed, retried ones too: for metrics. `role` is whose
   * permissions the calls have, for messages. After the `deadline` nobody waits in line: the clients
   * give the calls up.
   */
  constructor(
    timing: Timing = SYSTEM,
    onFault: (fault: PortError) => void = () => {},
    role?: string,
    deadline: () => AbortSignal | undefined = () => undefined,
  ) {
    this.timing = timing;
    this.onFault = onFault;
    this.role = role;
    this.deadline = deadline;
  }

  /**
   * `action` as IAM names it. The work must be repeatable: all of ours carry a client token, a
   * condition or an id.
   */
  async run<Answer>(action: string, work: () => Promise<Answer>): Promise<Answer> {
    const bucket = this.bucketOf(action);
    const first = await this.attempt(bucket, action, work);
    if (first.ok) return first.answer;
    if (!mayRetry(first.fault)) throw first.fault;
    await this.timing.sleep(RETRY_MS);
    const second = await this.attempt(bucket, action, work);
    if (second.ok) return second.answer;
    throw second.fault;
  }

  private async attempt<Answer>(
    bucket: TokenBucket,
    action: string,
    work: () => Promise<Answer>,
  ): Promise<
    | { readonly ok: true; readonly answer: Answer }
    | { readonly ok: false; readonly fault: PortError }
  > {
    if (this.deadline()?.aborted !== true) await bucket.take();
    try {
      return { ok: true, answer: await work() };
    } catch (error) {
      const fault = portError(error, action, this.role);
      this.onFault(fault);
      return { ok: false, fault };
    }
  }

  private bucketOf(action: string): TokenBucket {
    const known = this.buckets.get(action);
    if (known !== undefined) return known;
    const isRead = /:(Describe|Get|List|Receive)/.test(action);
    const bucket = new TokenBucket(isRead ? READ : WRITE, this.timing);
    this.buckets.set(action, bucket);
    return bucket;
  }
}

/** Pages after pages; `PAGES_MAX` of them are more than any account holds. */
const PAGES_MAX = 1000;

export async function allPages<Item>(
  page: (token: string | undefined) => Promise<{
    readonly items: readonly Item[] | undefined;
    readonly next: string | undefined;
  }>,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  let token: string | undefined;
  for (let count = 0; count < PAGES_MAX; count += 1) {
    const { items, next } = await page(token);
    all.push(...(items ?? []));
    if (next === undefined || next === '') return all;
    token = next;
  }
  throw new Error(`a list of more than ${PAGES_MAX} pages`);
}
