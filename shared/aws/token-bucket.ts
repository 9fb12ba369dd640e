/** Tokens that come back at a steady rate, at most `size` of them. */
export interface Pace {
  readonly size: number;
  readonly perSecond: number;
}

/** Time as the adapters need it; tests pass their own. */
export interface Timing {
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Keeps our own calls below the rate at which AWS throttles them: callers wait in line.
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
 */
export class TokenBucket {
  private readonly pace: Pace;
  private readonly timing: Timing;
  /** May be negative: that many callers wait. */
  private tokens: number;
  private countedAtMs: number;

  constructor(pace: Pace, timing: Timing) {
    this.pace = pace;
    this.timing = timing;
    this.tokens = pace.size;
    this.countedAtMs = timing.nowMs();
  }

  /** Resolves when the caller may go on. */
  async take(): Promise<void> {
    const nowMs = this.timing.nowMs();
    const gained = ((nowMs - this.countedAtMs) / 1000) * this.pace.perSecond;
    this.tokens = Math.min(this.pace.size, this.tokens + gained) - 1;
    this.countedAtMs = nowMs;
    if (this.tokens >= 0) return;
    await this.timing.sleep(Math.ceil((-this.tokens / this.pace.perSecond) * 1000));
  }
}
