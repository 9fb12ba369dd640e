import { PAUSE } from '../../shared/core/model/labels.ts';
import { type PausedPart, pauseWindow } from '../../shared/core/pause-windows.ts';
import type { KubeObject } from '../../shared/sim/store.ts';

/** A part of what a NodePool does that was paused for a time. */
export interface PausedSpan {
  readonly nodePool: string;
  readonly part: PausedPart;
  /** As in the annotation, such as `launch from 0 18 * * * for 14h`. */
  readonly window: string;
  /** Seconds since the start of a simulation. */
  readonly from: number;
  /** Null: paused still when the simulation ended. */
  readonly to: number | null;
}

const PARTS = ['launch', 'disrupt'] as const;

type Annotations = Readonly<Record<string, string>>;

/** When NodePools pause launches or disruptions by the annotation `joiner.dev/pause`. */
export class Pauses {
  readonly #pools = new Map<string, Annotations>();
  readonly #open = new Map<string, PausedSpan>();
  readonly #over: PausedSpan[] = [];

  onNodePool(pool: KubeObject, isGone: boolean): void {
    const { name, annotations } = pool.metadata;
    // Each step of the world looks at these: most NodePools pause nothing.
    if (isGone || annotations[PAUSE] === undefined) this.#pools.delete(name);
    else this.#pools.set(name, annotations);
  }

  /** What is paused from now on, and what no longer. */
  look(nowMs: number, seconds: number): void {
    const found = new Map(
      [...this.#pools].flatMap(([nodePool, annotations]) =>
        PARTS.flatMap((part) => {
          const window = pauseWindow({ annotations }, part, nowMs);
          if (window === undefined) return [];
          const span: PausedSpan = { nodePool, part, window, from: seconds, to: null };
          return [[JSON.stringify([nodePool, part, window]), span] as const];
        }),
      ),
    );
    for (const [key, span] of this.#open) {
      if (found.has(key)) continue;
      this.#open.delete(key);
      this.#over.push({ ...span, to: seconds });
    }
    for (const [key, span] of found) if (!this.#open.has(key)) this.#open.set(key, span);
  }

  /** All of them, in the order in which they began. */
  get spans(): readonly PausedSpan[] {
    const all = [...this.#over, ...this.#open.values()];
    const nameOf = ({ nodePool, part }: PausedSpan): string => `${nodePool} ${part}`;
    return all.sort((a, b) => a.from - b.from || (nameOf(a) < nameOf(b) ? -1 : 1));
  }
}
