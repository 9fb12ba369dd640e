import { actionFor, type InterruptionAction } from '../../core/interruption/action.ts';
import { type Envelope, parseInterruption } from '../../core/interruption/interruption.ts';
import { instanceIdOf } from '../../core/lifecycle/actions.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { QueueMessage } from './messages.ts';

/** A launch is noted on its claim so long after the instance is there, and clocks differ. */
const NOTED_MS = 5_000;
/** Nothing can be drained on a node that has ended: `lifecycle` finds it within so long, too. */
const ENDED_MS = 60_000;
/** A storm about instances that nobody knows has the claims read no more often. */
const BETWEEN_MS = 1_000;

/** What has to be known before a batch is judged. */
export interface Question {
  /** A message may be about an instance of ours: the claims have to be read. */
  readonly isOpen: boolean;
  /** How long that may wait: nothing says that any of the instances is ours. */
  readonly waitMs: number;
}

/**
 * The instances of this cluster as they were when the claims were read last. What a message is
 * about was there when it was sent: claims that were read after that tell whether it is ours, for
 * any number of messages. Most of an account's instances may be others', and these cost nothing.
 */
export class KnownInstances {
  private ids: ReadonlySet<string | undefined> = new Set();
  private readAtMs = Number.NEGATIVE_INFINITY;

  /** Reading the claims began then. */
  note(claims: readonly NodeClaim[], atMs: number): void {
    this.ids = new Set(claims.map(({ providerId }) => instanceIdOf(providerId)));
    this.readAtMs = atMs;
  }

  ask(messages: readonly QueueMessage[], envelope: Envelope, nowMs: number): Question {
    let isOpen = false;
    for (const { body, queuedAtMs = nowMs } of messages) {
      const parsed = parseInterruption(body, envelope, nowMs);
      const action = parsed.ok ? actionFor(parsed.interruption) : undefined;
      if (!parsed.ok || action === undefined) continue;
      const { instanceIds } = parsed.interruption;
      if (instanceIds.some((id) => this.ids.has(id))) return { isOpen: true, waitMs: 0 };
      isOpen ||= !this.isForeign(action, queuedAtMs, nowMs);
    }
    const isFirst = this.readAtMs === Number.NEGATIVE_INFINITY;
    const waitMs = isFirst ? 0 : Math.max(0, this.readAtMs + BETWEEN_MS - nowMs);
    return { isOpen, waitMs: isOpen ? waitMs : 0 };
  }

  private isForeign({ isUrgent }: InterruptionAction, queuedAtMs: number, nowMs: number): boolean {
    if (this.readAtMs >= queuedAtMs + NOTED_MS) return true;
    return !isUrgent && nowMs - this.readAtMs < ENDED_MS;
  }
}
