import { expect, it } from 'vitest';
import { isWorthWaiting, RESERVE_MS, WAIT_MS_MAX } from '../../../functions/watch/hand-over.ts';
import { TIMEOUTS } from '../../../infra/constructs/settings.ts';

const INVOCATION_MS = TIMEOUTS.watch.toMilliseconds();
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Invocations of a day, one a minute, each late by up to `jitterMs`; how they share the Lease. */
function day(jitterMs: number): { readonly gapsMs: number; readonly waitedMs: number } {
  let acquiredMs = 0;
  let endsMs = INVOCATION_MS - RESERVE_MS;
  let gapsMs = 0;
  let waitedMs = 0;
  for (let minute = 1; minute * MINUTE_MS < DAY_MS; minute += 1) {
    const nowMs = minute * MINUTE_MS + ((minute * 7919) % 1000) * (jitterMs / 1000);
    if (nowMs < endsMs && !isWorthWaiting(nowMs - acquiredMs, INVOCATION_MS)) continue;
    if (nowMs + WAIT_MS_MAX < endsMs) {
      waitedMs += WAIT_MS_MAX;
      continue;
    }
    waitedMs += Math.max(0, endsMs - nowMs);
    gapsMs += Math.max(0, nowMs - endsMs);
    acquiredMs = Math.max(nowMs, endsMs);
    endsMs = nowMs + INVOCATION_MS - RESERVE_MS;
  }
  return { gapsMs, waitedMs };
}

it.each([0, 1_000, 5_000])('no second without a watch, invocations late by up to %s ms', (late) => {
  expect(day(late).gapsMs).toBe(0);
});

it('waiting takes a small part of the time that it would take every minute', () => {
  const everyMinuteMs = (DAY_MS / MINUTE_MS) * WAIT_MS_MAX;
  expect(day(1_000).waitedMs).toBeLessThan(everyMinuteMs / 8);
});

it.each([
  [0, false],
  [5 * MINUTE_MS, false],
  [INVOCATION_MS - RESERVE_MS - WAIT_MS_MAX - MINUTE_MS, true],
  [INVOCATION_MS, true],
])('after %s ms: %s', (heldMs, expected) => {
  expect(isWorthWaiting(heldMs, INVOCATION_MS)).toBe(expected);
});
