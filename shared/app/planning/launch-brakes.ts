import type { ClusterState, Ports } from '../../ports.ts';
import { type AppSettings, isPaused } from '../settings.ts';
import { CachedRead } from '../writes/cached-read.ts';

/** Whether launches are paused: asked before each fleet, so that a pause stops what has begun. */
export class LaunchPause {
  private readonly clock: Ports['clock'];
  private readonly brakes: CachedRead<ClusterState['pausedUntilMs']>;

  /** `readAtMs` is when reading the state began. */
  constructor(
    { clock, cluster }: Ports,
    { pausedUntilMs: value }: Pick<ClusterState, 'pausedUntilMs'>,
    readAtMs: number,
  ) {
    this.clock = clock;
    const look = () => cluster.pausedUntilMs();
    this.brakes = new CachedRead({ clock, value, readAtMs, look });
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
