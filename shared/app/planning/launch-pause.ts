import type { ClusterState, Ports } from '../../ports.ts';
import { isPaused } from '../settings.ts';
import { CachedRead } from '../writes/cached-read.ts';

/** Whether launches are paused: asked before each fleet, so that a pause stops what has begun. */
export class LaunchPause {
  private readonly clock: Ports['clock'];
  private readonly pauses: CachedRead<ClusterState['pausedUntilMs']>;

  /** `readAtMs` is when reading the state began. */
  constructor(
    { clock, cluster }: Ports,
    { pausedUntilMs: value }: Pick<ClusterState, 'pausedUntilMs'>,
    readAtMs: number,
  ) {
    this.clock = clock;
    const look = () => cluster.pausedUntilMs();
    this.pauses = new CachedRead({ clock, value, readAtMs, look });
  }

  async isOn(): Promise<boolean> {
    const { launch } = await this.pauses.read();
    return isPaused(launch, this.clock.nowMs());
  }
}
