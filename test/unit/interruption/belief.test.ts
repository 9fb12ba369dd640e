import { describe, expect, it } from 'vitest';
import {
  CONFIRMED_WITHIN_MS,
  mayBeLate,
  SHOWN_WITHIN_MS,
  speaksAgainst,
} from '../../../shared/core/interruption/belief.ts';

const SENT_AT_MS = Date.UTC(2026, 0, 1);

describe('an answer of EC2 that says nothing of a warning', () => {
  it.each([
    ['before it', -1000, false],
    ['at once', 0, false],
    ['just short of ten seconds later', CONFIRMED_WITHIN_MS - 1, false],
    ['ten seconds later', CONFIRMED_WITHIN_MS, true],
    ['an hour later', 3_600_000, true],
  ])('%s: speaks against it', (_, afterMs, speaks) => {
    expect(speaksAgainst(SENT_AT_MS + afterMs, SENT_AT_MS)).toBe(speaks);
  });
});

describe('the state of an instance, as EC2 shows it', () => {
  it.each([
    ['before the message', -1000, true],
    ['at once', 0, true],
    ['just short of five minutes later', SHOWN_WITHIN_MS - 1, true],
    ['five minutes later', SHOWN_WITHIN_MS, false],
  ])('%s: may be of the time before it', (_, afterMs, isLate) => {
    expect(mayBeLate(SENT_AT_MS + afterMs, SENT_AT_MS)).toBe(isLate);
  });
});
