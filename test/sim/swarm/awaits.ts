import type { Prng } from '../../../shared/sim/prng.ts';
import type { Timeline } from '../../../shared/sim/timeline.ts';

/** One run of a function. */
export interface Invocation {
  readonly id: number;
  readonly function: string;
  readonly startedMs: number;
  /** Its clock is ahead of the true time by so much. */
  readonly skewMs: number;
  isKilled: boolean;
  frozenUntilMs: number;
}

interface Pause {
  readonly by: Invocation;
  readonly untilMs: number;
  readonly resume: () => void;
}

/**
 * Decides the order in which invocations go on. Each call of a port waits here, so that at each of
 * them any other invocation may go first: the seed says which.
 */
export class Awaits {
  private readonly timeline: Timeline;
  private readonly order: Prng;
  private pauses: Pause[] = [];

  constructor(timeline: Timeline, order: Prng) {
    this.timeline = timeline;
    this.order = order;
  }

  /** Ends after the time or once the signal aborts, and never for an invocation that is killed. */
  async pause(by: Invocation, ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    const untilMs = Math.max(this.timeline.nowMs() + ms, by.frozenUntilMs);
    await new Promise<void>((resume) => {
      const pause = { by, untilMs, resume };
      this.pauses.push(pause);
      signal?.addEventListener('abort', () => this.resume(pause), { once: true });
    });
  }

  /** Some time that a call takes. */
  async latency(by: Invocation, least = 1, most = 40): Promise<void> {
    await this.pause(by, this.order.between(least, most));
  }

  /** Has one invocation go on, and runs it up to its next pause. False: none is due. */
  async step(): Promise<boolean> {
    const nowMs = this.timeline.nowMs();
    this.pauses = this.pauses.filter(({ by }) => !by.isKilled);
    const due = this.pauses.filter(({ untilMs }) => untilMs <= nowMs);
    const chosen = due[this.order.between(0, due.length - 1)];
    if (chosen === undefined) return false;
    if (chosen.by.frozenUntilMs > nowMs) {
      this.postpone(chosen);
      return true;
    }
    this.resume(chosen);
    await settled();
    return true;
  }

  /** When the next pause ends. */
  nextMs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.pauses.map(({ untilMs }) => untilMs));
  }

  /** The invocation was frozen while it waited. */
  private postpone(pause: Pause): void {
    this.pauses = this.pauses.filter((each) => each !== pause);
    this.pauses.push({ ...pause, untilMs: pause.by.frozenUntilMs });
  }

  private resume(pause: Pause): void {
    this.pauses = this.pauses.filter((each) => each !== pause);
    if (!pause.by.isKilled) pause.resume();
  }
}

/** All promises that can be settled without a pause are. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
