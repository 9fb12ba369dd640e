import { speaksAgainst } from '../../core/interruption/belief.ts';

/** Messages that a queue holds back for longer are asked about again. */
const KEPT_MS = 60_000;

/** A spot warning about an instance; sent then at the latest. */
export interface Warning {
  readonly instanceId: string;
  readonly sentAtMs: number;
}

/**
 * Instances of which EC2 has not said that it takes them back, and when it was asked last. It need
 * not be asked again because of a warning that was sent so long before that it would have known:
 * many messages about few instances cost no more than few do. One that is sent later is a new one.
 */
export class UnconfirmedWarnings {
  private readonly askedAtMs = new Map<string, number>();

  /** EC2 was asked about these and says nothing of an end. */
  note(instanceIds: readonly string[], nowMs: number): void {
    for (const [id, atMs] of this.askedAtMs) {
      if (nowMs - atMs >= KEPT_MS) this.askedAtMs.delete(id);
    }
    for (const id of instanceIds) this.askedAtMs.set(id, nowMs);
  }

  /** Whether EC2's silence is its last word about the warning. */
  isSettled({ instanceId, sentAtMs }: Warning): boolean {
    const atMs = this.askedAtMs.get(instanceId);
    return atMs !== undefined && speaksAgainst(atMs, sentAtMs);
  }
}
