import { LeaseLost } from '../../shared/app/writes/write-leases.ts';
import type { Lease, Leases } from '../../shared/ports.ts';

/** Where the work has got to. */
export type Progress =
  /** Nothing more is to be done now. */
  | 'settled'
  /** To be looked at again after a moment, while there is time. */
  | 'unsettled';

export interface LeasedWork {
  readonly leases: Leases;
  /** Without the prefix `joiner-`. */
  readonly name: string;
  readonly pass: (lease: Lease) => Promise<Progress>;
  /** Milliseconds left to this invocation. */
  readonly remainingMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Between two passes over unsettled work. */
  readonly pauseMs: number | (() => number);
  /** Ends what passes have left running, before the Lease is let go. @default nothing is */
  readonly finish?: () => Promise<void>;
  /** Somebody left the work to a pass that has failed. @default they come again by themselves */
  readonly onLeft?: () => void;
}

/** A pass is not begun with less time than this: what it leaves is the next invocation's. */
export const RESERVE_MS = 20_000;

/** `out of time`: there is more to be done, by whoever comes next. */
export type Outcome = 'held by another' | 'done' | 'out of time';

/**
 * Whether an invocation that ends `out of time` may begin the next one. One that had no time to
 * begin with may not, or it would do so again and again.
 */
export function mayHandOver(invocationMs: number): boolean {
  return invocationMs >= 3 * RESERVE_MS;
}

/** No longer than leaves time for a pass: Lambda ends who sleeps on, and the Lease stays held. */
function pauseOf({ pauseMs, remainingMs }: LeasedWork): number {
  const ms = typeof pauseMs === 'number' ? pauseMs : pauseMs();
  return Math.max(0, Math.min(ms, remainingMs() - RESERVE_MS));
}

/**
 * One writer at a time. Passes follow each other while the work is unsettled or somebody left a
 * wake mark; who finds the Lease held has left such a mark and is done.
 */
export async function leased(work: LeasedWork): Promise<Outcome> {
  const lease = await work.leases.acquire(work.name);
  if (lease === undefined) return 'held by another';
  let isOwed = false;
  let isFailed = false;
  try {
    for (;;) {
      const progress = await work.pass(lease);
      isOwed = false;
      if (progress === 'settled') {
        await work.finish?.();
        if ((await lease.releaseUnlessWoken()) === 'released') return 'done';
        isOwed = true;
      }
      if (work.remainingMs() < RESERVE_MS) return 'out of time';
      if (progress === 'unsettled') await work.sleep(pauseOf(work));
    }
  } catch (error) {
    if (error instanceof LeaseLost) return 'held by another';
    isFailed = true;
    throw error;
  } finally {
    const isWoken = await finishAndRelease(lease, work.finish);
    if (isFailed && (isOwed || isWoken)) work.onLeft?.();
  }
}

/**
 * Ends what is left running, then frees the Lease, whatever comes of that, and although somebody
 * left a mark. Returns whether there was one that nobody knows of.
 */
export async function finishAndRelease(
  lease: Lease,
  finish?: () => Promise<void>,
): Promise<boolean> {
  let isWoken = false;
  try {
    await finish?.();
  } finally {
    isWoken = await lease.release();
  }
  return isWoken;
}
