/** What the last seconds of an invocation are for: sending what is left, releasing the Lease. */
export const RESERVE_MS = 15_000;

/** Whoever waits longer than this for the Lease leaves it to the next minute's invocation. */
export const WAIT_MS_MAX = 50_000;

/** Between two invocations of the schedule. */
const SCHEDULE_MS = 60_000;

/** Clocks differ, and the schedule has a precision of seconds. */
const MARGIN_MS = 25_000;

/**
 * Whether the one that holds the Lease may end before the next minute's invocation: only then is
 * it worth the time to wait for it. Every invocation has the same time in all, of which the holder
 * has waited for up to {@link WAIT_MS_MAX} and keeps {@link RESERVE_MS} in the end.
 */
export function isWorthWaiting(heldMs: number, invocationMs: number): boolean {
  return heldMs >= invocationMs - RESERVE_MS - WAIT_MS_MAX - SCHEDULE_MS - MARGIN_MS;
}
