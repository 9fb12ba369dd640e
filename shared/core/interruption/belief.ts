/**
 * The spot request says what a real warning says within moments; AWS names no figure. What it does
 * not say so long after the warning was sent it never will.
 */
export const CONFIRMED_WITHIN_MS = 10_000;

/** Whether an answer of EC2 that says nothing of a warning says that there is none. */
export function speaksAgainst(answeredAtMs: number, sentAtMs: number): boolean {
  return answeredAtMs - sentAtMs >= CONFIRMED_WITHIN_MS;
}
