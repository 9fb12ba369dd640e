import {
  type ConsolidationSettings,
  DEFAULT_CONSOLIDATION_SETTINGS,
} from '../core/disruption/consolidation/payback.ts';
import type { Envelope } from '../core/interruption/interruption.ts';
import { currencyOf } from '../core/model/currency.ts';
import { DEFAULT_SCHEDULING_SETTINGS, type SchedulingSettings } from '../core/model/snapshot.ts';

/** What the operator may set about the use cases. */
export interface AppSettings {
  readonly cluster: string;
  readonly envelope: Envelope;
  readonly scheduling: SchedulingSettings;
  readonly consolidation: ConsolidationSettings;
  readonly staticCapacity: boolean;
  readonly capacityBuffer: boolean;
  /** Nodes that stay unhealthy are replaced. */
  readonly nodeRepair: boolean;
  /** Pods are nominated to the nodes that they are planned on (decision 0041). */
  readonly podNomination: boolean;
  /** Claims launched by one fleet call. */
  readonly fleetSizeMax: number;
  /** Instance types in one fleet call: EC2 refuses bodies that are too large. */
  readonly fleetTypesMax: number;
  readonly launchesPerMinuteMax: number;
  readonly terminationsPerMinuteMax: number;
}

export function appSettings(
  cluster: string,
  envelope: Envelope,
  changes: Partial<AppSettings> = {},
): AppSettings {
  const { scheduling = DEFAULT_SCHEDULING_SETTINGS } = changes;
  return {
    cluster,
    envelope,
    consolidation: DEFAULT_CONSOLIDATION_SETTINGS,
    staticCapacity: true,
    capacityBuffer: true,
    nodeRepair: false,
    podNomination: true,
    fleetSizeMax: 500,
    fleetTypesMax: 60,
    launchesPerMinuteMax: 200,
    terminationsPerMinuteMax: 50,
    ...changes,
    scheduling: { ...scheduling, currency: currencyOf(envelope.region) },
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

/** Whether a brake in `kube-system/joiner` holds this kind of action. */
export function isPaused(untilMs: number | undefined, nowMs: number): boolean {
  return untilMs !== undefined && nowMs < untilMs;
}
