import type { Timeline } from '../../../shared/sim/timeline.ts';

/** Karpenter, beside Joiner: while it renews its Lease, Joiner writes nothing. */
export class Karpenter {
  private readonly timeline: Timeline;
  private sinceMs = Number.POSITIVE_INFINITY;
  private untilMs = Number.NEGATIVE_INFINITY;

  constructor(timeline: Timeline) {
    this.timeline = timeline;
  }

  lead(ms: number): void {
    const nowMs = this.timeline.nowMs();
    if (nowMs > this.untilMs) this.sinceMs = nowMs;
    this.untilMs = Math.max(this.untilMs, nowMs + ms);
  }

  /** When it has renewed its Lease. */
  renewedAtMs(): number | undefined {
    const nowMs = this.timeline.nowMs();
    return nowMs < this.sinceMs ? undefined : Math.min(nowMs, this.untilMs);
  }

  /** For how long it has led; 0: it does not. */
  leadsForMs(): number {
    const nowMs = this.timeline.nowMs();
    return nowMs < this.sinceMs || nowMs > this.untilMs ? 0 : nowMs - this.sinceMs;
  }
}
