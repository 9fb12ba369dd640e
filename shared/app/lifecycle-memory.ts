import { KeptNominations } from './kept-nominations.ts';

const MINUTE_MS = 60_000;

/**
 * What lifecycle keeps from one pass to the next in its process. A new process knows of the
 * terminations that the cluster still shows, and finds lost nominations with its next pass.
 */
export class LifecycleMemory {
  /** Those of nodes that have opened a moment ago. */
  readonly nominations = new KeptNominations();
  private readonly checksEveryMs: number;
  private terminatedAtMs: readonly number[] = [];
  private checkedAtMs = Number.NEGATIVE_INFINITY;

  /** EC2's status checks are asked for at most once in this time; 0: in every pass. */
  constructor(checksEveryMs = 0) {
    this.checksEveryMs = checksEveryMs;
  }

  /** Whether the status checks are due; if so, they count as asked for. */
  takeChecks(nowMs: number): boolean {
    if (nowMs < this.checkedAtMs + this.checksEveryMs) return false;
    this.checkedAtMs = nowMs;
    return true;
  }

  addTermination(nowMs: number): void {
    this.terminatedAtMs = [...this.terminatedAtMs, nowMs];
  }

  /** How many there were in the last minute. */
  terminations(nowMs: number): number {
    this.terminatedAtMs = this.terminatedAtMs.filter((atMs) => nowMs - atMs < MINUTE_MS);
    return this.terminatedAtMs.length;
  }
}
