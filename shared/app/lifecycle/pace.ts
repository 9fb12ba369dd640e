import type { LifecycleReport } from './report.ts';

/** Between two passes that change something. */
const LEAST_MS = 1_000;
/** Between two passes that change nothing, in the end. */
const MOST_MS = 30_000;
/** Instances that are being ended take a minute, and nothing in the cluster tells of it. */
const ENDING_MS_MAX = 5_000;

type Seen = Pick<LifecycleReport, 'isQuiet' | 'isEnding' | 'dueAtMs' | 'unsettled'>;

/**
 * How long `lifecycle` waits between two passes: a second while they change something, and up to
 * half a minute where a drain is blocked or a node does not join. Who waits so long has to be told
 * of news meanwhile.
 */
export class LifecyclePace {
  private ms = LEAST_MS;
  private unsettled = '';

  /** The pause after a pass; a deadline that comes sooner ends it. */
  next({ isQuiet, isEnding, dueAtMs, unsettled }: Seen, nowMs: number): number {
    const names = unsettled.join(' ');
    const isSame = isQuiet && names === this.unsettled;
    this.unsettled = names;
    const most = isEnding ? ENDING_MS_MAX : MOST_MS;
    const now = isSame ? Math.min(this.ms, most) : LEAST_MS;
    this.ms = Math.min(MOST_MS, now * 2);
    if (dueAtMs === undefined) return now;
    return Math.max(LEAST_MS, Math.min(now, dueAtMs - nowMs));
  }
}
