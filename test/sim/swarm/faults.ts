import { Prng } from '../../../shared/sim/prng.ts';

/**
 * Each kind of fault with its probability at one opportunity, e.g. one call of a port. A run draws
 * which of them it has, so that no fault hides what another one would show (swarm testing).
 */
export const FAULTS = {
  /** The API server fails before it has done anything. */
  'api-refuses': 0.01,
  'api-throttles': 0.01,
  /** It has done what was asked, and the answer is lost. */
  'api-answer-lost': 0.01,
  /** Somebody else has written the object since it was read. */
  'api-conflict': 0.05,
  /** A read has pods and nodes as they were up to two seconds ago. */
  'api-stale-read': 0.3,
  'ec2-throttles': 0.08,
  /** EC2 launches nothing, and says so in words that nobody knows. */
  'ec2-unknown-code': 0.1,
  'ec2-answer-lost': 0.1,
  /** Lists lack instances that were launched within the last seconds. */
  'ec2-lag': 0.5,
  /** An invocation ends at once. */
  killed: 0.002,
  /** An invocation stands still, often for longer than its Lease lasts. */
  frozen: 0.001,
  'event-doubled': 0.1,
  'event-lost': 0.3,
  'tick-missed': 0.15,
  'message-doubled': 0.3,
  'message-late': 0.3,
  'clock-skew': 0.5,
  'scheduler-slow': 0.5,
  'node-never-joins': 0.15,
  'instance-dies': 0.02,
  'cold-start': 0.3,
  /** What is remembered of shortages cannot be read. */
  'memory-unreadable': 0.3,
} as const satisfies Readonly<Record<string, number>>;

export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

/** Draws faults, and counts those that happened. */
export class Faults {
  /** How often each happened. */
  readonly marks = new Map<string, number>();
  private readonly random: Prng;
  /** One for each, so that a fault less leaves the others where they were. */
  private readonly randoms: ReadonlyMap<FaultName, Prng>;
  private readonly rate: number;
  private isOver = false;
  private readonly onMark: (name: string) => void;

  constructor(
    seed: number,
    names: readonly FaultName[],
    rate: number,
    onMark: (name: string) => void = () => undefined,
  ) {
    this.onMark = onMark;
    this.random = new Prng(seed, 'faults');
    this.randoms = new Map(names.map((name) => [name, new Prng(seed, `fault ${name}`)]));
    this.rate = rate;
  }

  /** Whether the fault happens at this opportunity. */
  happens(name: FaultName): boolean {
    const random = this.randoms.get(name);
    if (this.isOver || random === undefined) return false;
    if (random.next() >= Math.min(0.9, FAULTS[name] * this.rate)) return false;
    this.mark(name);
    return true;
  }

  between(least: number, most: number): number {
    return this.random.between(least, most);
  }

  mark(name: string): void {
    this.marks.set(name, (this.marks.get(name) ?? 0) + 1);
    this.onMark(name);
  }

  /** From here on nothing fails: what is left has to heal. */
  end(): void {
    this.isOver = true;
  }
}
