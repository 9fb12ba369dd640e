import { systemTiming } from '../../shared/kube/time.ts';
import { isTransient } from '../../shared/ports.ts';

const PAUSE_MS = 2_000;

/** How long it is tried. */
export interface Patience {
  /** Milliseconds left to the invocation. */
  readonly remainingMs: () => number;
  /** What a try may take: none is begun that Lambda would cut off. */
  readonly tryMs: number;
  /** @default as many as there is time for */
  readonly triesMax?: number;
}

/** Does again what has met a fault that passes by itself, for who is not run again soon enough. */
export async function untilItPasses<Result>(
  work: () => Promise<Result>,
  { remainingMs, tryMs, triesMax = Number.POSITIVE_INFINITY }: Patience,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const isTime = remainingMs() >= PAUSE_MS + tryMs;
      if (!isTransient(error) || !isTime || tries >= triesMax) throw error;
      await systemTiming.sleep(PAUSE_MS);
    }
  }
}
