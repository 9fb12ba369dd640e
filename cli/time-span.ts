import { InvalidArgumentError } from 'commander';
import { parseDurationOrDaysMs } from '../shared/core/duration.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DAYS_MAX = 366;

/** Milliseconds of a time such as `7d`, `36h` or `90m`, from a minute to 366 days. */
export function timeSpan(text: string): number {
  const ms = parseDurationOrDaysMs(text);
  if (ms === undefined || ms < MINUTE_MS || ms > DAYS_MAX * DAY_MS) {
    throw new InvalidArgumentError('expected a time such as 7d or 36h, from 1m to 366d.');
  }
  return ms;
}
