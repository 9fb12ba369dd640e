import { type NotedTimes, readNotedTimes } from '../model/annotations/noted-times.ts';
import { type Labels, UNCONFIRMED } from '../model/labels.ts';

/** At most this share of a NodePool's nodes goes, in the time below, on what EC2 does not confirm. */
const SHARE = 0.2;
export const UNCONFIRMED_WINDOW_MS = 600_000;

/** NodeClaims deleted on messages that nothing confirmed, and when. */
export type Unconfirmed = NotedTimes;

function isRecent(atMs: number, nowMs: number): boolean {
  // Clocks of two processes differ a little, so that an instant may seem to lie ahead.
  return Math.abs(nowMs - atMs) < UNCONFIRMED_WINDOW_MS;
}

/** What a NodePool's annotation says of the last ten minutes; what cannot be read says nothing. */
export function recentUnconfirmed(annotations: Labels, nowMs: number): Unconfirmed {
  const noted = readNotedTimes(annotations[UNCONFIRMED]);
  return new Map([...noted].filter(([, atMs]) => isRecent(atMs, nowMs)));
}

/** How many of a pool's nodes may be gone on unconfirmed messages; of the smallest pool, one. */
export function unconfirmedMax(nodes: number): number {
  return Math.ceil(nodes * SHARE);
}

export interface Grant {
  /** Claims that may be deleted, of those asked for. */
  readonly granted: ReadonlySet<string>;
  /** With those granted: to be noted before any of them is deleted. */
  readonly noted: Unconfirmed;
}

/**
 * Which of the claims may be deleted on messages that nothing confirms; those that are asked for
 * first come first. One that is noted already has been granted before: its message has come again.
 */
export function grantUnconfirmed(
  before: Unconfirmed,
  nodes: number,
  claims: readonly string[],
  nowMs: number,
): Grant {
  const noted = new Map(before);
  const granted = new Set<string>();
  for (const claim of claims) {
    if (!noted.has(claim)) {
      if (noted.size >= unconfirmedMax(nodes)) continue;
      noted.set(claim, nowMs);
    }
    granted.add(claim);
  }
  return { granted, noted };
}
