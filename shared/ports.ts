/**
 * What the use cases in `shared/app` need from the world, and nothing more. `shared/kube` and
 * `shared/aws` implement these interfaces for production, `shared/sim` for the simulated world.
 *
 * Expected outcomes (a lost race, an object that is gone, no capacity) are values. Everything else
 * is thrown as a {@link PortError}, classified once by the adapter. Every write can be repeated.
 */

import type { ShortMetricName } from './contract/metrics.ts';
import type { DetailName } from './contract/prometheus.ts';
import type { DecisionAction } from './contract.ts';
import type { Reason } from './core/explain/reason.ts';
import type { UnavailableOffering } from './core/launch/bars.ts';
import type { BarKind } from './core/launch/faults.ts';
import type { FailedLaunch, FailedLaunches } from './core/launch/halted-pools.ts';
import type { LaunchBackoff } from './core/launch/launch-backoff.ts';
import type { LaunchOutcomes, UnusedLaunch } from './core/launch/unused-launches.ts';
import type { GroupUsage } from './core/limit-groups/group-usage.ts';
import type { Labels } from './core/model/labels.ts';
import type {
  Catalog,
  Compute,
  Images,
  Network,
  OfferingKey,
  Profiles,
  SubnetKey,
  ZonalShifts,
} from './ports/cloud.ts';
import type { ClusterReader, ClusterWriter } from './ports/cluster.ts';

export type { ShortMetricName } from './contract/metrics.ts';
export type * from './ports/cloud.ts';
export type * from './ports/cluster.ts';
export { objectKey } from './ports/cluster.ts';
export * from './ports/fault.ts';

export type { UnavailableOffering };

/** Never needed to act: where it cannot be read the answers are empty, writes are dropped. */
export interface Memory {
  unavailable(): Promise<readonly UnavailableOffering[]>;
  /** Ids of subnets that had no free address. */
  unavailableSubnets(): Promise<ReadonlySet<string>>;
  /** Bars it for as long as the kind of the fault says; repeated shortages bar it for longer. */
  markUnavailable(barred: OfferingKey | SubnetKey, reason: string, kind: BarKind): Promise<void>;
  /** What was barred by faults of the kind is free: what they were about is over. */
  forgetBars(kind: BarKind): Promise<void>;
  /** Launches in a row that did not register, by NodePool. */
  failedRegistrations(): Promise<ReadonlyMap<string, FailedLaunches>>;
  /** `failed`: a launch that has not joined; undefined: one has. */
  recordRegistration(nodePool: string, failed: FailedLaunch | undefined): Promise<void>;
  /** What a NodePool with failed launches is launched as now: what was before ends with it. */
  recordLaunchWay(nodePool: string, way: string): Promise<void>;
  /** Nodes that were launched for pods which did not come to run on them, newest first. */
  unusedLaunches(): Promise<readonly UnusedLaunch[]>;
  recordOutcomes(outcomes: LaunchOutcomes): Promise<void>;
  /** What others, who remember launches, have said of pods. Absent: all that is known is here. */
  readonly toldBackoffs?: ReadonlyMap<string, LaunchBackoff>;
  /**
   * Allocatable really seen on a node, to correct the computed one; the image's id has a mark of the
   * user data that it was started with, if it was.
   */
  recordAllocatable(instanceType: string, imageId: string, memoryBytes: number): Promise<void>;
  /** Corrects computed bytes by what was learnt; the computed ones where nothing was. */
  allocatable(): Promise<(instanceType: string, imageId: string, computedBytes: number) => number>;
}

/** What clusters hold of a shared limit group, as it was at one moment. */
export interface KnownUsage {
  readonly usage: GroupUsage;
  /** Undefined: nobody has written any. */
  readonly version: string | undefined;
}

/**
 * What the clusters that share a bucket hold of shared limit groups. Other than {@link Memory} it
 * is needed to act: where it cannot be read, nothing of the group is launched.
 */
export interface GroupUsages {
  /** Undefined: it cannot be read. */
  read(group: string): Promise<KnownUsage | undefined>;
  /**
   * Replaces what has the version. `conflict`: something else is there by now. `failed`: it may have
   * been written or not.
   */
  write(
    group: string,
    usage: GroupUsage,
    version: string | undefined,
  ): Promise<{ readonly version: string } | 'conflict' | 'failed'>;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export interface Ids {
  /** Five lower-case letters and digits, as Kubernetes adds to generated names. */
  suffix(): string;
}

/** Who decides. */
export const USE_CASES = ['provision', 'lifecycle', 'disrupt', 'interrupt', 'nodeclass'] as const;

export type UseCase = (typeof USE_CASES)[number];

/** One decision: what, why, what was rejected. Plain JSON data. */
export interface DecisionRecord {
  readonly id: string;
  readonly atMs: number;
  readonly useCase: UseCase;
  /** e.g. `NodeClaim/default-x7k2p`. */
  readonly object: string;
  readonly action: DecisionAction;
  /** Why, the one that decided first. */
  readonly reasons: readonly Reason[];
  /** The reasons in words, for people. */
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface Recorder {
  decision(record: DecisionRecord): Promise<void>;
  /** Names without their prefix: what is not in the table of metrics does not compile. */
  count(metric: ShortMetricName, dimensions: Labels, by?: number): void;
  /**
   * What a decision that changed something was made from, under a name of letters, digits and
   * dashes. The text is made when it is wanted, for the version of Joiner that runs. Absent where
   * nobody keeps it.
   */
  recording?(name: string, atMs: number, text: (joiner: string) => string): void;
  /** A level or a duration at this moment; absent where nobody looks at it. Named as counts are. */
  measure?(metric: ShortMetricName, value: number): void;
  /** What CloudWatch has no series for, and Prometheus has; absent where nobody looks at it. */
  detail?(metric: DetailName, labels: Labels, value: number): void;
}

/** Something that Joiner does without for now: a condition that is False while it lasts. */
export interface Degradation {
  readonly type: 'MemoryReachable' | 'PricesFresh' | 'ZonesUsable';
  readonly reason: string;
  /** The same for as long as it lasts, or every pass would write it anew. */
  readonly message: string;
}

/** Everything a use case may touch. */
export interface Ports {
  readonly cluster: ClusterReader & ClusterWriter;
  readonly compute: Compute;
  readonly images: Images;
  readonly network: Network;
  readonly profiles: Profiles;
  readonly catalog: Catalog;
  readonly memory: Memory;
  /** Absent: nothing of shared limit groups is launched. */
  readonly groupUsages?: GroupUsages;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly recorder: Recorder;
  /** Absent: NodePools say what is known. */
  readonly zonalShifts?: ZonalShifts;
  /** Absent: nothing that could be missing. */
  readonly degradations?: () => readonly Degradation[];
  /**
   * Whether the catalog has been read from AWS of late, so that a type it lacks is not offered any
   * more. Absent: it always is.
   */
  readonly isCatalogCurrent?: () => boolean;
}
