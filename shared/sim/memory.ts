import {
  activeBars,
  type Bars,
  offeringsOf,
  subnetsOf,
  withBar,
  withoutBars,
} from '../core/launch/bars.ts';
import type { BarKind } from '../core/launch/faults.ts';
import {
  type FailedLaunch,
  type FailedLaunches,
  withFailedLaunch,
  withLaunchWay,
} from '../core/launch/halted-pools.ts';
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
  SubnetKey,
  UnavailableOffering,
} from '../ports.ts';

export class SimulatedMemory implements Memory {
  private readonly clock: Clock;
  private bars: Bars = new Map();
  private readonly failures = new Map<string, FailedLaunches>();
  private launches: readonly UnusedLaunch[] = [];
  /** Least allocatable memory seen, by type and image. */
  private readonly learnt = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async unavailable(): Promise<readonly UnavailableOffering[]> {
    return offeringsOf(activeBars(this.bars, [], this.clock.nowMs()));
  }

  async unavailableSubnets(): Promise<ReadonlySet<string>> {
    return subnetsOf(activeBars(this.bars, [], this.clock.nowMs()));
  }

  async markUnavailable(
    barred: OfferingKey | SubnetKey,
    reason: string,
    kind: BarKind,
  ): Promise<void> {
    this.bars = withBar(this.bars, barred, { kind, reason, markedAtMs: this.clock.nowMs() });
  }

  async forgetBars(kind: BarKind): Promise<void> {
    this.bars = withoutBars(this.bars, (_, bar) => bar.kind === kind);
  }

  async failedRegistrations(): ReturnType<Memory['failedRegistrations']> {
    return this.failures;
  }

  async recordRegistration(nodePool: string, failed: FailedLaunch | undefined): Promise<void> {
    if (failed === undefined) this.failures.delete(nodePool);
    else {
      const all = withFailedLaunch(this.failures.get(nodePool), failed, this.clock.nowMs());
      this.failures.set(nodePool, all);
    }
  }

  async recordLaunchWay(nodePool: string, way: string): Promise<void> {
    const known = this.failures.get(nodePool);
    if (known === undefined) return;
    this.failures.set(nodePool, withLaunchWay(known, way, this.clock.nowMs()));
  }

  async unusedLaunches(): ReturnType<Memory['unusedLaunches']> {
    return this.launches;
  }

  async recordOutcomes(outcomes: LaunchOutcomes): Promise<void> {
    this.launches = withOutcomes(this.launches, outcomes, this.clock.nowMs());
  }

  async recordAllocatable(
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

/** Passes one after the other that made the same record. */
export interface Stretch {
  /** As the first of them made it. */
  readonly record: DecisionRecord;
  readonly lastMs: number;
  readonly times: number;
}

/** Passes come once a minute: what is made again later than this was not so in between. */
export const STRETCH_GAP_MS = 90_000;

export class SimulatedRecorder implements Recorder {
  readonly decisions: DecisionRecord[] = [];
  /** By the id of a record. */
  readonly stretches = new Map<string, Stretch[]>();
  readonly counts = new Map<string, number>();
  /** As they were last. */
  readonly levels = new Map<string, number>();
  private readonly onDecision: (record: DecisionRecord) => void;

  constructor(onDecision: (record: DecisionRecord) => void = () => undefined) {
    this.onDecision = onDecision;
  }

  async decision(record: DecisionRecord): Promise<void> {
    this.onDecision(record);
    const { id, atMs } = record;
    const known = this.stretches.get(id);
    const last = known?.at(-1);
    if (known === undefined || last === undefined) {
      this.decisions.push(record);
      this.stretches.set(id, [{ record, lastMs: atMs, times: 1 }]);
    } else if (atMs - last.lastMs <= STRETCH_GAP_MS) {
      known[known.length - 1] = { ...last, lastMs: atMs, times: last.times + 1 };
    } else known.push({ record, lastMs: atMs, times: 1 });
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
