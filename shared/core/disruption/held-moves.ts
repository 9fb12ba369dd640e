import { readJsonObject, readTime } from '../model/annotations/json-object.ts';
import { HELD_MOVES, type Labels } from '../model/labels.ts';
import { FORGET_MS, readMove, waitMsOf } from './failed-moves.ts';

/** A node that is to go for the money and is held by its pods though all is ready stays after this. */
const HELD_MS_MAX = 10 * 60_000;

/** Moves of a node that its pods held, until they were given up. */
export interface HeldMoves {
  /** Since when pods hold the move that is under way; undefined: they do not. */
  readonly sinceMs: number | undefined;
  /** How many moves in a row were given up. */
  readonly count: number;
  /** No other move begins before; 0: none was given up. */
  readonly untilMs: number;
}

const NONE: HeldMoves = { sinceMs: undefined, count: 0, untilMs: 0 };

/** What a NodeClaim's annotation says; whatever cannot be read says nothing. */
export function heldMoves(annotations: Labels): HeldMoves {
  const read = readJsonObject(annotations[HELD_MOVES]);
  if (read === undefined) return NONE;
  return { ...NONE, ...readMove(read), sinceMs: readTime(read['since']) };
}

/** The annotation's text; null removes it. */
export function heldMovesText({ sinceMs, count, untilMs }: HeldMoves): string | null {
  if (sinceMs === undefined && count === 0) return null;
  return JSON.stringify({
    ...(sinceMs === undefined ? {} : { since: new Date(sinceMs).toISOString() }),
    ...(count === 0 ? {} : { count, until: new Date(untilMs).toISOString() }),
  });
}

/** Whether pods have held the move for so long that it is given up. */
export function isHeldTooLong({ sinceMs }: HeldMoves, nowMs: number): boolean {
  return sinceMs !== undefined && nowMs - sinceMs >= HELD_MS_MAX;
}

/** One more move was given up, because pods held it. */
export function withHeldMove({ count, untilMs }: HeldMoves, nowMs: number): HeldMoves {
  const next = nowMs < untilMs + FORGET_MS ? count + 1 : 1;
  return { sinceMs: undefined, count: next, untilMs: nowMs + waitMsOf(next) };
}
