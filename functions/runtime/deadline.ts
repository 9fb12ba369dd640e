/**
 * What an invocation keeps at its end: to log why a call was given up, to publish metrics, to write
 * its memory and to release its Lease.
 */
const CLOSING_MS = 5_000;

/** Timers take no longer time. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * When calls of AWS and of Kubernetes that still wait for an answer are given up: Lambda would end
 * the invocation a moment later, without a word. middy has such a signal as well, but one for all
 * invocations of a process, and it answers for the handler without waiting for what that cleans up.
 */
export class Deadline {
  #signal: AbortSignal | undefined;
  #endsAtMs = 0;

  /**
   * Begins with the invocation; `remainingMs` until Lambda ends it. Where invocations overlap, as in
   * tests, the latest end counts.
   */
  begin(remainingMs: number): void {
    const leftMs = Math.max(0, Math.floor(remainingMs - CLOSING_MS));
    const endsAtMs = Date.now() + leftMs;
    if (this.#signal?.aborted === false && endsAtMs < this.#endsAtMs) return;
    this.#endsAtMs = endsAtMs;
    this.#signal = AbortSignal.timeout(Math.min(leftMs, TIMER_MS_MAX));
  }

  /** Undefined: no invocation has begun. */
  get signal(): AbortSignal | undefined {
    return this.#signal;
  }
}
