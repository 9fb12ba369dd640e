import { age } from '../../shared/core/duration.ts';
import type { Ports } from '../../shared/ports.ts';
import type { World } from '../../shared/sim/world.ts';
import type { Progress } from '../progress.ts';
import { counted } from '../words.ts';

/**
 * Says how far a simulation is. It listens to Joiner looking at the clock, so that the run is the
 * same, to the byte, with and without it.
 */
export class SimulationProgress {
  private readonly progress: Progress;
  private readonly total: string;
  private world: World | undefined;

  constructor(progress: Progress, total: string) {
    this.progress = progress;
    this.total = total;
  }

  /** Its ports, whose clock tells of the progress. */
  wrap(ports: Ports): Ports {
    const { clock } = ports;
    return {
      ...ports,
      clock: {
        nowMs: () => {
          const virtualMs = clock.nowMs();
          const { world } = this;
          if (world !== undefined) this.progress.say(() => this.textOf(world, virtualMs));
          return virtualMs;
        },
        sleep: (ms) => clock.sleep(ms),
      },
    };
  }

  /** From here on there is something to tell of. */
  of(world: World): void {
    this.world = world;
  }

  private textOf({ store, startMs }: World, virtualMs: number): string {
    const at = age(Math.floor((virtualMs - startMs) / 1000));
    const nodes = counted(store.list('Node').length, 'node');
    const pods = counted(store.list('Pod').length, 'pod');
    return `${at} of ${this.total}: ${nodes}, ${pods}`;
  }
}
