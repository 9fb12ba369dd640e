import { canonicalText } from '../core/launch/canonical-text.ts';
import {
  type LaunchOutcomes,
  type UnusedLaunch,
  withOutcomes,
} from '../core/launch/unused-launches.ts';
import type {
  Clock,
  DecisionRecord,
  Memory,
  OfferingKey,
  Recorder,
  UnavailableOffering,
} from '../ports.ts';

/** First three minutes, as Karpenter; then twice as long each time, at most six hours. */
const BAR_MS = 3 * 60_000;
const BAR_MS_MAX = 6 * 3_600_000;

export class SimulatedMemory implements Memory {
  private readonly clock: Clock;
  private readonly barred = new Map<string, UnavailableOffering & { readonly times: number }>();
  private readonly failures = new Map<
    string,
    { readonly count: number; readonly lastAtMs: number }
  >();
  private launches: readonly UnusedLaunch[] = [];
  /** Least allocatable memory seen, by type and image. */
  private readonly learnt = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async unavailable(): Promise<readonly UnavailableOffering[]> {
    const nowMs = this.clock.nowMs();
    return [...this.barred.values()].filter((each) => nowMs < each.untilMs);
  }

  async markUnavailable(offering: OfferingKey, reason: string): Promise<void> {
    const key = canonicalText(offering);
    const before = offering.nodeClass === undefined ? this.barred.get(key)?.times : undefined;
    const times = (before ?? 0) + 1;
    const untilMs = this.clock.nowMs() + Math.min(BAR_MS * 2 ** (times - 1), BAR_MS_MAX);
    this.barred.set(key, { ...offering, reason, untilMs, times });
  }

  async failedRegistrations(): ReturnType<Memory['failedRegistrations']> {
    return this.failures;
  }

  async recordRegistration(nodePool: string, registered: boolean): Promise<void> {
    if (registered) this.failures.delete(nodePool);
    else {
      const count = (this.failures.get(nodePool)?.count ?? 0) + 1;
      this.failures.set(nodePool, { count, lastAtMs: this.clock.nowMs() });
    }
  }

  async unusedLaunches(): ReturnType<Memory['unusedLaunches']> {
    return this.launches;
  }

  async recordOutcomes(outcomes: LaunchOutcomes): Promise<void> {
    this.launches = withOutcomes(this.launches, outcomes, this.clock.nowMs());
  }

  async learnAllocatable(
    instanceType: string,
    imageId: string,
    memoryBytes: number,
  ): Promise<void> {
    const key = `${instanceType}/${imageId}`;
    this.learnt.set(key, Math.min(memoryBytes, this.learnt.get(key) ?? memoryBytes));
  }

  async allocatable(): ReturnType<Memory['allocatable']> {
    return (instanceType, imageId, computedBytes) =>
      this.learnt.get(`${instanceType}/${imageId}`) ?? computedBytes;
  }
}

export class SimulatedRecorder implements Recorder {
  readonly decisions: DecisionRecord[] = [];
  private readonly ids = new Set<string>();
  readonly counts = new Map<string, number>();
  /** As they were last. */
  readonly levels = new Map<string, number>();

  async decision(record: DecisionRecord): Promise<void> {
    if (this.ids.has(record.id)) return;
    this.ids.add(record.id);
    this.decisions.push(record);
  }

  count(metric: string, dimensions: Readonly<Record<string, string>>, by = 1): void {
    const labels = Object.entries(dimensions).sort(([a], [b]) => (a < b ? -1 : 1));
    const key = `${metric}{${labels.map(([name, value]) => `${name}="${value}"`).join(',')}}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + by);
  }

  measure(metric: string, value: number): void {
    this.levels.set(metric, value);
  }
}
