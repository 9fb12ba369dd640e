import { DEFAULT_SETTINGS, type Settings } from '../contract/settings.ts';
import type { FeatureGate } from '../contract.ts';
import type { ConsolidationSettings } from '../core/disruption/consolidation/payback.ts';
import type { Envelope } from '../core/interruption/interruption.ts';
import { type LimitGroup, limitGroupsOf } from '../core/limit-groups/limit-groups.ts';
import { currencyOf } from '../core/model/currency.ts';
import { DEFAULT_SCHEDULING_SETTINGS, type SchedulingSettings } from '../core/model/snapshot.ts';

/** What the operator may set about the use cases. */
export interface UseCaseSettings {
  readonly scheduling: SchedulingSettings;
  readonly consolidation: ConsolidationSettings;
  readonly staticCapacity: boolean;
  readonly capacityBuffer: boolean;
  /** Nodes that stay unhealthy are replaced. */
  readonly nodeRepair: boolean;
  /** Pods are nominated to the nodes that they are planned on (decision 0041). */
  readonly podNomination: boolean;
  readonly launchesPerMinuteMax: number;
  readonly terminationsPerMinuteMax: number;
  /** Caps on NodePools together. */
  readonly limitGroups: readonly LimitGroup[];
}

/** What the use cases go by. */
export interface AppSettings extends UseCaseSettings {
  readonly cluster: string;
  readonly envelope: Envelope;
  /** Claims launched by one fleet call. */
  readonly fleetSizeMax: number;
  /** Instance types in one fleet call: EC2 refuses bodies that are too large. */
  readonly fleetTypesMax: number;
}

/** What decisions go by of the operator's settings. */
export interface StackSettings {
  readonly gates: Readonly<Record<FeatureGate, boolean>>;
  readonly useCases: UseCaseSettings;
  /** A share of a node's memory. */
  readonly memoryOverhead: number;
  readonly reservedEnis: number;
}

/** The operator's settings as decisions have them. */
export function stackSettings(values: Settings): StackSettings {
  const gates = values.featureGates;
  return {
    gates,
    memoryOverhead: values.vmMemoryOverhead,
    reservedEnis: values.reservedEnis,
    useCases: {
      staticCapacity: gates.StaticCapacity,
      capacityBuffer: gates.CapacityBuffer,
      nodeRepair: gates.NodeRepair,
      podNomination: gates.PodNomination,
      launchesPerMinuteMax: values.maxLaunchesPerMinute,
      terminationsPerMinuteMax: values.maxTerminationsPerMinute,
      limitGroups: limitGroupsOf(values.limitGroups) ?? [],
      consolidation: {
        horizonMs: values.consolidationHorizon,
        evictionPrice: values.evictionPrice,
        spotToSpot: gates.SpotToSpotConsolidation,
      },
      scheduling: {
        ...DEFAULT_SCHEDULING_SETTINGS,
        preferencePolicy: values.preferencePolicy,
        minValuesPolicy: values.minValuesPolicy,
        reservedCapacity: gates.ReservedCapacity,
        nodeOverlay: gates.NodeOverlay,
        preferenceWorth: { zone: values.preferenceWorthZone, other: values.preferenceWorthOther },
        nodePrice: values.nodePrice,
        effort: values.effort,
      },
    },
  };
}

/** Defaults but for the changes. Prices are in the currency of the region. */
export function appSettings(
  cluster: string,
  envelope: Envelope,
  changes: Partial<AppSettings> = {},
): AppSettings {
  const settings = { ...stackSettings(DEFAULT_SETTINGS).useCases, ...changes };
  return {
    cluster,
    envelope,
    fleetSizeMax: 500,
    fleetTypesMax: 60,
    ...settings,
    scheduling: { ...settings.scheduling, currency: currencyOf(envelope.region) },
  };
}

/** Another controller that was alive this recently owns the cluster: we only read. */
const KARPENTER_ALIVE_MS = 60_000;

/** Whether Karpenter runs here now, so that nothing may be written. */
export function isKarpenterActive(
  karpenterRenewedAtMs: number | undefined,
  nowMs: number,
): boolean {
  return karpenterRenewedAtMs !== undefined && nowMs - karpenterRenewedAtMs < KARPENTER_ALIVE_MS;
}

/**
 * Karpenter's Lease holds for so long, and is renewed every two seconds: an older one that still
 * counts is of a Karpenter that has just ended, or is about to be elected anew.
 */
const KARPENTER_LEASE_MS = 15_000;

/** Whether it cannot be said yet if Karpenter goes on: it counts as active, and renews nothing. */
export function isKarpenterInDoubt(
  karpenterRenewedAtMs: number | undefined,
  nowMs: number,
): boolean {
  return (
    isKarpenterActive(karpenterRenewedAtMs, nowMs) &&
    nowMs - (karpenterRenewedAtMs ?? 0) >= KARPENTER_LEASE_MS
  );
}

/** Whether a pause in `kube-system/joiner` stops this kind of action now. */
export function isPaused(untilMs: number | undefined, nowMs: number): boolean {
  return untilMs !== undefined && nowMs < untilMs;
}
