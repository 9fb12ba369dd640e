/**
 * The spot request says what a real warning says within moments; AWS names no figure. What it does
 * not say so long after the warning was sent it never will.
 */
export const CONFIRMED_WITHIN_MS = 10_000;

/** Whether an answer of EC2 that says nothing of a warning says that there is none. */
export function speaksAgainst(answeredAtMs: number, sentAtMs: number): boolean {
  return answeredAtMs - sentAtMs >= CONFIRMED_WITHIN_MS;
}

/**
 * DescribeInstances may lag behind an event: EC2 advises to ask again for up to five minutes.
 * https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
 */
export const SHOWN_WITHIN_MS = 300_000;

/** Whether an instance's state, as EC2 shows it, may be of the time before the message. */
export function mayBeLate(shownAtMs: number, sentAtMs: number): boolean {
  return shownAtMs - sentAtMs < SHOWN_WITHIN_MS;
}
