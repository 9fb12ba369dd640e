/** Collects kinds and hands each over at most once in a while, the first at once. */
export class Coalescer<Kind extends string> {
  private readonly pending = new Set<Kind>();
  private readonly sentAtMs = new Map<Kind, number>();
  private readonly everyMs: number;
  private readonly send: (kinds: readonly Kind[]) => Promise<void>;
  private readonly nowMs: () => number;
  private timer: NodeJS.Timeout | undefined;
  private timerAtMs = Number.POSITIVE_INFINITY;
  /** Undefined: nothing is being sent. */
  private sending: Promise<void> | undefined;
  private failure: unknown;

  /** `send` is not called while it runs: what is added meanwhile goes with the next call. */
  constructor(
    everyMs: number,
    send: (kinds: readonly Kind[]) => Promise<void>,
    nowMs: () => number = () => Date.now(),
  ) {
    this.everyMs = everyMs;
    this.send = send;
    this.nowMs = nowMs;
  }

  add(kind: Kind): void {
    this.pending.add(kind);
    this.schedule(this.waitMs(kind, this.nowMs()));
  }

  /** Everything sent that was added; throws what a send threw. */
  async close(): Promise<void> {
    await this.sending;
    this.flush(true);
    await this.sending;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.failure !== undefined) throw this.failure;
  }

  /** How long a kind still has to wait. */
  private waitMs(kind: Kind, nowMs: number): number {
    const sentAtMs = this.sentAtMs.get(kind) ?? Number.NEGATIVE_INFINITY;
    return Math.max(0, this.everyMs - (nowMs - sentAtMs));
  }

  /** A kind that is due sooner than those that wait does not wait with them. */
  private schedule(ms: number): void {
    const atMs = this.nowMs() + ms;
    if (this.timer !== undefined && this.timerAtMs <= atMs) return;
    clearTimeout(this.timer);
    this.timerAtMs = atMs;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.flush(false);
    }, ms);
  }

  private flush(all: boolean): void {
    if (this.sending !== undefined) return;
    const nowMs = this.nowMs();
    const due = [...this.pending].filter((kind) => all || this.waitMs(kind, nowMs) === 0);
    for (const kind of due) {
      this.pending.delete(kind);
      this.sentAtMs.set(kind, nowMs);
    }
    if (due.length > 0) this.sending = this.sendNow(due);
    else this.schedulePending();
  }

  private async sendNow(due: readonly Kind[]): Promise<void> {
    try {
      await this.send(due);
    } catch (error) {
      // Kept until the end: a wake-up that is lost costs a minute, a watch that dies costs all.
      this.failure ??= error;
    }
    this.sending = undefined;
    this.schedulePending();
  }

  private schedulePending(): void {
    const nowMs = this.nowMs();
    for (const kind of this.pending) this.schedule(this.waitMs(kind, nowMs));
  }
}
