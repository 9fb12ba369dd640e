/**
 * What an invocation keeps at its end: to log why a call was given up, to publish metrics, to write
 * its memory and to release its Lease.
 */
const CLOSING_MS = 5_000;
/** Of that, what writing the memory takes: a Lease that is not released by then expires. */
const MEMORY_MS = 3_000;

/** Timers take no longer time. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * When calls of AWS and of Kubernetes that still wait for an answer are given up: Lambda would end
 * the invocation a moment later, without a word. middy has such a signal as well, but one for all
 * invocations of a process, and it answers for the handler without waiting for what that cleans up.
 */
export class Deadline {
  #signal: AbortSignal | undefined;
  #leaseSignal: AbortSignal | undefined;
  #endsAtMs = 0;

  /**
   * Begins with the invocation; `remainingMs` until Lambda ends it. Where invocations overlap, as in
   * tests, the latest end counts.
   */
  begin(remainingMs: number): void {
    const endsAtMs = Date.now() + remainingMs;
    if (this.#signal?.aborted === false && endsAtMs < this.#endsAtMs) return;
    this.#endsAtMs = endsAtMs;
    this.#signal = after(remainingMs - CLOSING_MS);
    this.#leaseSignal = after(remainingMs - MEMORY_MS);
  }

  /** Undefined: no invocation has begun. */
  get signal(): AbortSignal | undefined {
    return this.#signal;
  }

  /** The same for calls about Leases, which are released once the others have been given up. */
  get leaseSignal(): AbortSignal | undefined {
    return this.#leaseSignal;
  }
}

function after(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(Math.max(0, Math.floor(ms)), TIMER_MS_MAX));
}
