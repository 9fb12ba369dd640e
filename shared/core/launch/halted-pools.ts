import type { NotedTimes } from '../model/annotations/noted-times.ts';

/** So many launches in a row that did not join stop a NodePool's launches. */
export const FAILED_LAUNCHES_MAX = 5;
const HALT_MINUTES_MAX = 30;

/** Launches of a NodePool in a row that did not join. */
export interface FailedLaunches {
  readonly count: number;
  readonly lastAtMs: number;
  /** What those were to try that ended while they booted, and when: no claim says so any more. */
  readonly tried?: NotedTimes;
}

/** With one more that has not joined, and what it was to try. */
export function withFailedLaunch(
  before: FailedLaunches | undefined,
  tried: readonly string[],
  nowMs: number,
): FailedLaunches {
  const all = new Map([...(before?.tried ?? []), ...tried.map((each) => [each, nowMs] as const)]);
  const failed = { count: (before?.count ?? 0) + 1, lastAtMs: nowMs };
  return all.size === 0 ? failed : { ...failed, tried: all };
}

/** When a pool may launch again; undefined: it was not stopped. */
export function haltedUntilMs({ count, lastAtMs }: FailedLaunches): number | undefined {
  if (count < FAILED_LAUNCHES_MAX) return undefined;
  const minutes = Math.min(HALT_MINUTES_MAX, 2 ** (count - FAILED_LAUNCHES_MAX));
  return lastAtMs + minutes * 60_000;
}

/** Pools whose last launches did not join wait, ever longer: a minute, then twice as long, to 30. */
export function haltedPools(
  failed: ReadonlyMap<string, FailedLaunches>,
  nowMs: number,
): ReadonlySet<string> {
  const halted = [...failed].filter(([, launches]) => nowMs < (haltedUntilMs(launches) ?? 0));
  return new Set(halted.map(([pool]) => pool));
}
