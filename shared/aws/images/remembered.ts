interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly atMs: number;
  endsAtMs: number;
}

/** That there is nothing is believed for so long: it may be published at any time. */
const NOTHING_MS = 60_000;

/** Answers by question, each for a while; who asks while it is being answered waits along. */
export class Remembered<Value> {
  private readonly entries = new Map<string, Entry<Value>>();
  private readonly nowMs: () => number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** A failure is not kept. */
  get(key: string, lastsMs: number, ask: () => Promise<Value>): Promise<Value> {
    const nowMs = this.nowMs();
    const known = this.entries.get(key);
    if (known !== undefined && nowMs < known.endsAtMs) return known.value;
    this.forgetEnded(nowMs);
    const entry: Entry<Value> = { value: ask(), atMs: nowMs, endsAtMs: nowMs + lastsMs };
    this.entries.set(key, entry);
    entry.value.then(
      (value) => {
        if (value === undefined) entry.endsAtMs = Math.min(entry.endsAtMs, nowMs + NOTHING_MS);
      },
      () => {
        if (this.entries.get(key) === entry) this.entries.delete(key);
      },
    );
    return entry.value;
  }

  /** Drops an answer that is at least this old. */
  forget(key: string, ageMs: number): void {
    const known = this.entries.get(key);
    if (known !== undefined && this.nowMs() >= known.atMs + ageMs) this.entries.delete(key);
  }

  private forgetEnded(nowMs: number): void {
    for (const [key, { endsAtMs }] of this.entries) if (nowMs >= endsAtMs) this.entries.delete(key);
  }
}
