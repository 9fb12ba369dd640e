import { describe, expect, it } from 'vitest';
import {
  heldMoves,
  heldMovesText,
  isHeldTooLong,
  withHeldMove,
} from '../../../shared/core/disruption/held-moves.ts';
import { HELD_MOVES } from '../../../shared/core/model/labels.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NONE = { sinceMs: undefined, count: 0, untilMs: 0 };

const read = (text: string | null) => heldMoves(text === null ? {} : { [HELD_MOVES]: text });

describe('the annotation', () => {
  it.each([
    ['nothing', NONE],
    ['a hold', { ...NONE, sinceMs: NOW }],
    ['a move that was given up', { sinceMs: undefined, count: 2, untilMs: NOW }],
    ['both', { sinceMs: NOW, count: 1, untilMs: NOW - HOUR }],
  ])('says %s', (_, moves) => {
    expect(read(heldMovesText(moves))).toEqual(moves);
  });

  it.each([
    '',
    'x',
    '[]',
    '{"since":1}',
    '{"count":0,"until":"2026-01-01T00:00:00Z"}',
    '{"count":1}',
  ])('that reads %s says nothing', (text) => {
    expect(read(text)).toEqual(NONE);
  });
});

it('a hold is too long after ten minutes of it', () => {
  const held = { ...NONE, sinceMs: NOW };
  expect(isHeldTooLong(held, NOW + 10 * MINUTE - 1)).toBe(false);
  expect(isHeldTooLong(held, NOW + 10 * MINUTE)).toBe(true);
  expect(isHeldTooLong(NONE, NOW)).toBe(false);
});

it('each move in a row doubles the wait, up to 8 hours; a day later they are forgotten', () => {
  let moves = { ...NONE, sinceMs: NOW };
  let nowMs = NOW;
  const waits = Array.from({ length: 7 }, () => {
    moves = { ...withHeldMove(moves, nowMs), sinceMs: NOW };
    const waitMs = moves.untilMs - nowMs;
    nowMs = moves.untilMs + 10 * MINUTE;
    return waitMs / MINUTE;
  });
  expect(waits).toEqual([15, 30, 60, 120, 240, 480, 480]);
  expect(withHeldMove(moves, moves.untilMs + 24 * HOUR).count).toBe(1);
});
