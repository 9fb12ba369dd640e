import type { Ports } from '../../ports.ts';

/** What only one invocation does at a time: to decide which claims there are, and to launch them. */
export type Turn = 'decide' | 'launch';

/** What came of a turn. */
export interface Taken<Result> {
  readonly result: Result;
  /** Somebody came for the turn meanwhile, and has left what there is to do to this invocation. */
  readonly isWoken: boolean;
}

/**
 * Turns to write. They are apart because EC2 takes seconds for a fleet: others plan meanwhile, and
 * what they plan is launched by whoever launches already.
 */
export interface Turns {
  /**
   * Does the work with ports whose writes make sure that the turn is still ours. Undefined: another
   * has it, or has taken it over, and does the work, too.
   */
  take<Result>(
    turn: Turn,
    work: (ports: Ports) => Promise<Result>,
  ): Promise<Taken<Result> | undefined>;
  /** Has another invocation come, while this one is busy. Absent: nobody can be called. */
  readonly wakeAnother?: () => void;
}

/** Turns where nobody else could want one. */
export function alone(ports: Ports): Turns {
  return { take: async (_, work) => ({ result: await work(ports), isWoken: false }) };
}
