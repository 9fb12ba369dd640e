import type { Fields } from '../wire/request.ts';
import { WireFault } from '../wire/response.ts';

interface Bucket {
  readonly size: number;
  readonly perSecond: number;
}

/** https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html */
const NON_MUTATING: Bucket = { size: 100, perSecond: 20 };
const UNFILTERED: Bucket = { size: 50, perSecond: 10 };
const MUTATING: Bucket = { size: 50, perSecond: 5 };
const OWN: Readonly<Record<string, Bucket>> = {
  CreateTags: { size: 100, perSecond: 10 },
  TerminateInstances: { size: 100, perSecond: 5 },
};

function isNamed(input: Fields): boolean {
  return Object.entries(input).some(
    ([key, value]) => key !== 'NextToken' && value !== undefined && value !== false,
  );
}

/** EC2's request buckets: each operation has its own, and unfiltered reads a smaller one. */
export class Throttling {
  private readonly nowMs: () => number;
  private readonly levels = new Map<string, { readonly tokens: number; readonly atMs: number }>();

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Takes a token; the fault where there is none. */
  refusal(operation: string, input: Fields): WireFault | undefined {
    const isRead = /^(Describe|Get|List)/.test(operation);
    const isUnfiltered = isRead && !isNamed(input);
    const read = isUnfiltered ? UNFILTERED : NON_MUTATING;
    const { size, perSecond } = OWN[operation] ?? (isRead ? read : MUTATING);
    const key = `${operation}${isUnfiltered ? '/unfiltered' : ''}`;
    const atMs = this.nowMs();
    const before = this.levels.get(key) ?? { tokens: size, atMs };
    const refilled = before.tokens + ((atMs - before.atMs) / 1_000) * perSecond;
    const tokens = Math.min(size, refilled);
    if (tokens < 1) {
      this.levels.set(key, { tokens, atMs });
      return new WireFault('RequestLimitExceeded', 'Request limit exceeded.', 503);
    }
    this.levels.set(key, { tokens: tokens - 1, atMs });
    return undefined;
  }
}
