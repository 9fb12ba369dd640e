import { BUCKET_LAYOUT } from '../../contract.ts';
import {
  type LaunchOutcomes,
  type UnusedLaunch,
  withOutcomes,
} from '../../core/launch/unused-launches.ts';
import type { OfferingKey } from '../../ports/cloud.ts';
import type { Memory, UnavailableOffering } from '../../ports.ts';
import { type DocumentKind, MemoryDocument } from './document.ts';
import { UNUSED_LAUNCHES } from './launches-in-vain.ts';
import {
  believedBytes,
  LEARNT,
  type Learnt,
  learntKey,
  mergedLearnt,
  withLearnt,
} from './learnt-allocatable.ts';
import type { MemoryObjects } from './objects.ts';
import { REGISTRATIONS, type Registrations, withRegistration } from './registrations.ts';
import { SharedTopic } from './shared-topic.ts';
import { barredOfferings, SHORTAGES, type Shortages, withShortage } from './shortages.ts';

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
  private readonly shortages: SharedTopic<Shortages>;
  private readonly learnt: SharedTopic<Learnt>;
  private readonly registrations: MemoryDocument<Registrations>;
  private readonly launches: MemoryDocument<readonly UnusedLaunch[]>;

  constructor(objects: MemoryObjects, place: MemoryPlace) {
    this.objects = objects;
    this.shortages = new SharedTopic(objects, { ...place, topic: 'unavailable' }, SHORTAGES);
    this.learnt = new SharedTopic(objects, { ...place, topic: 'allocatable' }, LEARNT);
    const folder = BUCKET_LAYOUT.cluster(place.cluster);
    const document = <State>(name: string, kind: DocumentKind<State>) =>
      new MemoryDocument(objects, `${folder}${name}.json`, kind);
    this.registrations = document('registrations', REGISTRATIONS);
    this.launches = document('unused-launches', UNUSED_LAUNCHES);
  }

  async unavailable(): Promise<readonly UnavailableOffering[]> {
    const states = await this.shortages.read();
    return barredOfferings(states, this.objects.nowMs());
  }

  async markUnavailable(offering: OfferingKey, reason: string): Promise<void> {
    const nowMs = this.objects.nowMs();
    this.shortages.own.change((state) => withShortage(state, offering, reason, nowMs));
  }

  async failedRegistrations(): ReturnType<Memory['failedRegistrations']> {
    return this.registrations.read();
  }

  async recordRegistration(nodePool: string, registered: boolean): Promise<void> {
    const nowMs = this.objects.nowMs();
    this.registrations.change((state) => withRegistration(state, nodePool, registered, nowMs));
  }

  async unusedLaunches(): ReturnType<Memory['unusedLaunches']> {
    return this.launches.read();
  }

  async recordOutcomes(outcomes: LaunchOutcomes): Promise<void> {
    const nowMs = this.objects.nowMs();
    this.launches.change((state) => withOutcomes(state, outcomes, nowMs));
  }

  async learnAllocatable(
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
    for (const document of [this.shortages.own, this.registrations, this.launches]) {
      document.expire();
    }
  }

  /** Resolves when everything is written or dropped; before the sandbox is frozen. */
  async flush(): Promise<void> {
    const documents = [this.shortages.own, this.learnt.own, this.registrations, this.launches];
    await Promise.all(documents.map((document) => document.flush()));
  }
}
