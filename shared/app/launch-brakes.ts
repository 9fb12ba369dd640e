import type { ClusterState, Ports } from '../ports.ts';
import { Recent } from './recent.ts';
import { type AppSettings, isPaused } from './settings.ts';

export const PAUSED = 'launches are paused by the brake in kube-system/joiner';

/** Whether launches are paused: asked before each fleet, so that a pause stops what has begun. */
export class LaunchPause {
  private readonly clock: Ports['clock'];
  private readonly brakes: Recent<ClusterState['pausedUntilMs']>;

  /** `readAtMs` is when reading the state began. */
  constructor(
    { clock, cluster }: Ports,
    { pausedUntilMs: value }: Pick<ClusterState, 'pausedUntilMs'>,
    readAtMs: number,
  ) {
    this.clock = clock;
    const look = cluster.pausedUntilMs?.bind(cluster);
    this.brakes = new Recent({ clock, value, readAtMs, look });
  }

  async isOn(): Promise<boolean> {
    const { launch } = await this.brakes.read();
    return isPaused(launch, this.clock.nowMs());
  }
}

/** How many claims may be launched now: the cap counts the last minute. */
export function launchesLeft(state: ClusterState, settings: AppSettings, nowMs: number): number {
  const recent = state.objects.nodeClaims.filter((claim) =>
    claim.conditions.some(
      (each) =>
        each.type === 'Launched' &&
        each.status === 'True' &&
        nowMs - each.lastTransitionAtMs < 60_000,
    ),
  );
  return Math.max(0, settings.launchesPerMinuteMax - recent.length);
}

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
