import { BUCKET_LAYOUT } from '../../contract.ts';
import {
  activeBars,
  type Bar,
  type Bars,
  offeringsOf,
  subnetsOf,
  withBar,
  withoutBars,
} from '../../core/launch/bars.ts';
import type { BarKind } from '../../core/launch/faults.ts';
import type { FailedLaunch } from '../../core/launch/halted-pools.ts';
import {
  type LaunchOutcomes,
  type UnusedLaunch,
  withOutcomes,
} from '../../core/launch/unused-launches.ts';
import type { OfferingKey, SubnetKey } from '../../ports/cloud.ts';
import type { Memory, UnavailableOffering } from '../../ports.ts';
import { BARS } from './bars.ts';
import { type DocumentKind, MemoryDocument } from './document.ts';
import { UNUSED_LAUNCHES } from './launches-in-vain.ts';
import type { MemoryObjects } from './objects.ts';
import {
  believedBytes,
  LEARNT,
  type Learnt,
  learntKey,
  mergedLearnt,
  withLearnt,
} from './observed-allocatable.ts';
import { REGISTRATIONS, type Registrations, withRegistration, withWay } from './registrations.ts';
import { SharedTopic } from './shared-topic.ts';

export interface MemoryPlace {
  readonly region: string;
  readonly cluster: string;
}

/**
 * What Joiner remembers between runs, in the bucket. Changes count at once; they are written
 * while the caller goes on, so {@link S3Memory.flush} ends an invocation.
 * docs/decisions/0023-memory-in-a-bucket.md
 */
export class S3Memory implements Memory {
  private readonly objects: MemoryObjects;
  private readonly bars: SharedTopic<Bars>;
  private readonly learnt: SharedTopic<Learnt>;
  private readonly registrations: MemoryDocument<Registrations>;
  private readonly launches: MemoryDocument<readonly UnusedLaunch[]>;

  constructor(objects: MemoryObjects, place: MemoryPlace) {
    this.objects = objects;
    this.bars = new SharedTopic(objects, { ...place, topic: 'unavailable' }, BARS);
    this.learnt = new SharedTopic(objects, { ...place, topic: 'allocatable' }, LEARNT);
    const folder = BUCKET_LAYOUT.cluster(place.cluster);
    const document = <State>(name: string, kind: DocumentKind<State>) =>
      new MemoryDocument(objects, `${folder}${name}.json`, kind);
    this.registrations = document('registrations', REGISTRATIONS);
    this.launches = document('unused-launches', UNUSED_LAUNCHES);
  }

  async unavailable(): Promise<readonly UnavailableOffering[]> {
    return offeringsOf(await this.activeBars());
  }

  async unavailableSubnets(): Promise<ReadonlySet<string>> {
    return subnetsOf(await this.activeBars());
  }

  private async activeBars(): Promise<ReturnType<typeof activeBars>> {
    const [own = new Map(), ...others] = await this.bars.read();
    return activeBars(own, others, this.objects.nowMs());
  }

  async markUnavailable(
    barred: OfferingKey | SubnetKey,
    reason: string,
    kind: BarKind,
  ): Promise<void> {
    const barring = { kind, reason, markedAtMs: this.objects.nowMs() };
    this.bars.own.change((state) => withBar(state, barred, barring));
  }

  /** Our own: others look after theirs. */
  async forgetBars(kind: BarKind): Promise<void> {
    // Others may have barred something since this process looked.
    const known = await this.bars.own.read();
    const isOver = (_: string, bar: Bar): boolean => bar.kind === kind;
    if (withoutBars(known, isOver) === known) return;
    this.bars.own.change((state) => withoutBars(state, isOver));
  }

  async failedRegistrations(): ReturnType<Memory['failedRegistrations']> {
    return this.registrations.read();
  }

  async recordRegistration(nodePool: string, failed: FailedLaunch | undefined): Promise<void> {
    const nowMs = this.objects.nowMs();
    this.registrations.change((state) => withRegistration(state, nodePool, failed, nowMs));
  }

  async recordLaunchWay(nodePool: string, way: string): Promise<void> {
    const nowMs = this.objects.nowMs();
    this.registrations.change((state) => withWay(state, nodePool, way, nowMs));
  }

  async unusedLaunches(): ReturnType<Memory['unusedLaunches']> {
    return this.launches.read();
  }

  async recordOutcomes(outcomes: LaunchOutcomes): Promise<void> {
    const nowMs = this.objects.nowMs();
    this.launches.change((state) => withOutcomes(state, outcomes, nowMs));
  }

  async recordAllocatable(
    instanceType: string,
    imageId: string,
    memoryBytes: number,
  ): Promise<void> {
    const atMs = this.objects.nowMs();
    const learnt = { instanceType, imageId, memoryBytes, atMs };
    this.learnt.own.change((state) => withLearnt(state, learnt));
  }

  /**
   * Corrects the computed allocatable memory of a type's nodes by what was seen on them: the
   * function answers bytes, given the type, the image and the computed bytes.
   */
  async allocatable(): Promise<
    (instanceType: string, imageId: string, computedBytes: number) => number
  > {
    const merged = mergedLearnt(await this.learnt.read());
    return (instanceType, imageId, computedBytes) =>
      believedBytes(merged.get(learntKey(instanceType, imageId))?.memoryBytes, computedBytes);
  }

  /** What other functions have written is read before the next decision. */
  expire(): void {
    for (const document of [this.bars.own, this.registrations, this.launches]) {
      document.expire();
    }
  }

  /** Resolves when everything is written or dropped; before the sandbox is frozen. */
  async flush(): Promise<void> {
    const documents = [this.bars.own, this.learnt.own, this.registrations, this.launches];
    await Promise.all(documents.map((document) => document.flush()));
  }
}
