/** Waiting and chance, given from outside so that tests run without either. */
export interface Timing {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Resolves after the time or when the signal aborts, whichever is first; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** The wall clock. */
export const systemTiming: Timing = {
  nowMs: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};

const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 10_000;

/**
 * How long to wait before attempt `failures + 1`: doubling from 100 ms to at most 10 s, of which a
 * random half is taken so that many callers do not come back at once. Never less than the server
 * asked for.
 */
export function backoffMs(failures: number, random: number, askedMs: number | undefined): number {
  const ceiling = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** Math.min(failures - 1, 20));
  return Math.max(askedMs ?? 0, ceiling / 2 + (ceiling / 2) * random);
}
