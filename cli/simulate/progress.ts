import { age } from '../../shared/core/duration.ts';
import type { Ports } from '../../shared/ports.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { counted } from '../words.ts';

/** A terminal's line that is written over. */
interface Terminal {
  write(text: string): unknown;
}

/** Real time between two lines. */
const EVERY_MS = 200;
/** To the line's start, and everything on it gone. */
const CLEAR = '\r\u001b[2K';

/**
 * Tells on a terminal how far a simulation is. It listens to Joiner looking at the clock, so that
 * the run is the same, to the byte, with and without it.
 */
export class Progress {
  private readonly terminal: Terminal;
  private readonly nowMs: () => number;
  private readonly total: string;
  private world: World | undefined;
  private nextMs: number;

  constructor(terminal: Terminal, total: string, nowMs: () => number = () => performance.now()) {
    this.terminal = terminal;
    this.total = total;
    this.nowMs = nowMs;
    this.nextMs = nowMs() + EVERY_MS;
  }

  /** Its ports, whose clock tells of the progress. */
  wrap(ports: Ports): Ports {
    const { clock } = ports;
    return {
      ...ports,
      clock: {
        nowMs: () => {
          const virtualMs = clock.nowMs();
          this.tell(virtualMs);
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

  /** Leaves an empty line for what comes next. */
  end(): void {
    this.world = undefined;
    this.terminal.write(CLEAR);
  }

  private tell(virtualMs: number): void {
    const { world } = this;
    if (world === undefined || this.nowMs() < this.nextMs) return;
    this.nextMs = this.nowMs() + EVERY_MS;
    const at = age(Math.floor((virtualMs - WORLD_START_MS) / 1000));
    const nodes = counted(world.store.list('Node').length, 'node');
    const pods = counted(world.store.list('Pod').length, 'pod');
    this.terminal.write(`${CLEAR}${at} of ${this.total}: ${nodes}, ${pods}`);
  }
}
