import { isWithin, type Recurrence, recurrenceOf } from './disruption/schedule.ts';
import { PAUSE } from './model/labels.ts';
import type { NodePool } from './model/provisioning.ts';

/** What a NodePool may pause: launches, or voluntary disruption and expiration. */
export type PausedPart = 'launch' | 'disrupt';

/** A part that is paused in the window that is written like this. */
export interface PauseWindow extends Recurrence {
  readonly part: PausedPart;
  /** As in the annotation, such as `launch from 0 18 * * * for 14h`. */
  readonly text: string;
}

const WINDOW = /^(launch|disrupt) from (.+) for (\S+)$/;

/** Undefined: the text has another form. */
function windowOf(text: string): PauseWindow | undefined {
  const [, part, schedule = '', duration = ''] = WINDOW.exec(text) ?? [];
  const recurrence = recurrenceOf(schedule, duration);
  if ((part !== 'launch' && part !== 'disrupt') || recurrence === undefined) return undefined;
  return { part, text, ...recurrence };
}

function windowsOf({ annotations }: Pick<NodePool, 'annotations'>) {
  const texts = (annotations[PAUSE] ?? '').split(';').map((each) => each.trim());
  return texts.filter((each) => each !== '').map((text) => windowOf(text) ?? text);
}

/** What cannot be read of the annotation; undefined: nothing. */
export function pauseFault(pool: Pick<NodePool, 'annotations'>): string | undefined {
  const wrong = windowsOf(pool).find((each) => typeof each === 'string');
  if (wrong === undefined) return undefined;
  return `the annotation ${PAUSE} must be like "launch from 0 18 * * 1-5 for 14h", not "${String(wrong)}"`;
}

/** Names of those that pause something now. */
export function pausedPools(pools: readonly NodePool[], nowMs: number): ReadonlySet<string> {
  const paused = pools.filter(
    (pool) => pauseWindow(pool, 'launch', nowMs) ?? pauseWindow(pool, 'disrupt', nowMs),
  );
  return new Set(paused.map(({ name }) => name));
}

/**
 * The window (cron, UTC) in which the part is paused now; undefined: it is not. What cannot be read
 * pauses nothing, and is a fault of the NodePool.
 */
export function pauseWindow(
  pool: Pick<NodePool, 'annotations'>,
  part: PausedPart,
  nowMs: number,
): string | undefined {
  return windowWhere(pool, part, (each) => isWithin(each.schedule, each.durationMs, nowMs));
}

/** What a window of the NodePool that pauses its launches now says of it; undefined: none does. */
export function launchPauseText(
  pool: Pick<NodePool, 'annotations'>,
  nowMs: number,
): string | undefined {
  const window = pauseWindow(pool, 'launch', nowMs);
  return window === undefined
    ? undefined
    : `launches are paused by the annotation ${PAUSE}: ${window}`;
}

/** The window that begins within the next `withinMs`; undefined: none does. */
export function pauseWindowSoon(
  pool: Pick<NodePool, 'annotations'>,
  part: PausedPart,
  nowMs: number,
  withinMs: number,
): string | undefined {
  return windowWhere(pool, part, ({ schedule }) => isWithin(schedule, withinMs, nowMs + withinMs));
}

function windowWhere(
  pool: Pick<NodePool, 'annotations'>,
  part: PausedPart,
  holds: (window: PauseWindow) => boolean | undefined,
): string | undefined {
  const found = windowsOf(pool).find(
    (each) => typeof each !== 'string' && each.part === part && holds(each),
  );
  return typeof found === 'string' ? undefined : found?.text;
}
