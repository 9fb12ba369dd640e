/** So many launches in a row that did not join stop a NodePool's launches. */
export const FAILED_LAUNCHES_MAX = 5;
const HALT_MINUTES_MAX = 30;

/** Launches of a NodePool in a row that did not join. */
export interface FailedLaunches {
  readonly count: number;
  readonly lastAtMs: number;
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
