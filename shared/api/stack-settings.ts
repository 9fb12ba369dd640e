import * as z from 'zod';
import { ENV, FEATURE_GATES, type FeatureGate } from '../contract.ts';
import {
  type ConsolidationSettings,
  DEFAULT_CONSOLIDATION_SETTINGS,
} from '../core/disruption/consolidation/payback.ts';
import { parseDurationMs } from '../core/duration.ts';
import { DEFAULT_SCHEDULING_SETTINGS, type SchedulingSettings } from '../core/model/snapshot.ts';
import type { Decoded } from './issue.ts';

/** What of a stack's settings use cases go by. */
export interface UseCaseSettings {
  readonly staticCapacity: boolean;
  readonly capacityBuffer: boolean;
  readonly nodeRepair: boolean;
  readonly podNomination: boolean;
  readonly launchesPerMinuteMax: number;
  readonly terminationsPerMinuteMax: number;
  readonly consolidation: ConsolidationSettings;
  readonly scheduling: SchedulingSettings;
}

/** What of a stack's settings decisions go by. */
export interface StackSettings {
  readonly gates: Readonly<Record<FeatureGate, boolean>>;
  readonly useCases: UseCaseSettings;
  /** A share of a node's memory. */
  readonly memoryOverhead: number;
  readonly reservedEnis: number;
}

/** Karpenter's durations: one or more numbers with units, e.g. `300ms` or `1m30s`. */
export const duration = z.string().transform((text, context) => {
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'must be a duration such as 300ms or 3s' });
  return z.NEVER;
});

/** All feature gates. */
export const GATE_NAMES = Object.keys(FEATURE_GATES) as FeatureGate[];

/** `Name=true,Name=false`; gates that are not named keep their defaults. */
const featureGates = z.string().transform((text, context) => {
  const gates: Record<FeatureGate, boolean> = { ...FEATURE_GATES };
  for (const entry of text.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', value] = entry.split('=').map((each) => each.trim());
    const gate = GATE_NAMES.find((each) => each === name);
    // A gate that only Karpenter has says nothing to us.
    if (gate === undefined) continue;
    if (value !== 'true' && value !== 'false') {
      context.addIssue({ code: 'custom', message: `${name} must be true or false` });
    }
    gates[gate] = value === 'true';
  }
  return gates;
});

const count = z
  .string()
  .regex(/^[0-9]{1,6}$/, { message: 'must be a whole number' })
  .transform(Number);
const share = z
  .string()
  .regex(/^[0-9]*\.?[0-9]+$/, { message: 'must be a share such as 0.1' })
  .transform(Number);

/** Variables with their defaults: in a function's environment, and in the ConfigMap of the stack. */
export const STACK_VARIABLES = {
  [ENV.featureGates]: featureGates.default({ ...FEATURE_GATES }),
  [ENV.launchesPerMinuteMax]: count.default(200),
  [ENV.terminationsPerMinuteMax]: count.default(50),
  [ENV.preferencePolicy]: z.enum(['Respect', 'Ignore']).default('Respect'),
  [ENV.minValuesPolicy]: z.enum(['Strict', 'BestEffort']).default('Strict'),
  [ENV.preferenceWorthZone]: share.default(DEFAULT_SCHEDULING_SETTINGS.preferenceWorth.zone),
  [ENV.preferenceWorthOther]: share.default(DEFAULT_SCHEDULING_SETTINGS.preferenceWorth.other),
  [ENV.nodePrice]: share.default(DEFAULT_SCHEDULING_SETTINGS.nodePrice),
  [ENV.consolidationHorizon]: duration.default(DEFAULT_CONSOLIDATION_SETTINGS.horizonMs),
  [ENV.evictionPrice]: share.default(DEFAULT_CONSOLIDATION_SETTINGS.evictionPrice),
  [ENV.vmMemoryOverhead]: share.default(0.075),
  [ENV.reservedEnis]: count.default(0),
};

type StackVariables = {
  readonly [Name in keyof typeof STACK_VARIABLES]: z.output<(typeof STACK_VARIABLES)[Name]>;
};

/** The variables as decisions have them. */
export function stackSettings(data: StackVariables): StackSettings {
  const gates = data[ENV.featureGates];
  return {
    gates,
    memoryOverhead: data[ENV.vmMemoryOverhead],
    reservedEnis: data[ENV.reservedEnis],
    useCases: {
      staticCapacity: gates.StaticCapacity,
      capacityBuffer: gates.CapacityBuffer,
      nodeRepair: gates.NodeRepair,
      podNomination: gates.PodNomination,
      launchesPerMinuteMax: data[ENV.launchesPerMinuteMax],
      terminationsPerMinuteMax: data[ENV.terminationsPerMinuteMax],
      consolidation: {
        horizonMs: data[ENV.consolidationHorizon],
        evictionPrice: data[ENV.evictionPrice],
        spotToSpot: gates.SpotToSpotConsolidation,
      },
      scheduling: {
        ...DEFAULT_SCHEDULING_SETTINGS,
        preferencePolicy: data[ENV.preferencePolicy],
        minValuesPolicy: data[ENV.minValuesPolicy],
        reservedCapacity: gates.ReservedCapacity,
        nodeOverlay: gates.NodeOverlay,
        preferenceWorth: {
          zone: data[ENV.preferenceWorthZone],
          other: data[ENV.preferenceWorthOther],
        },
        nodePrice: data[ENV.nodePrice],
      },
    },
  };
}

/** The settings that a stack's ConfigMap states; what it does not state has its default. */
export function decodeStackSettings(data: unknown): Decoded<StackSettings> {
  const parsed = z.object(STACK_VARIABLES).safeParse(data ?? {});
  if (parsed.success) return { ok: true, value: stackSettings(parsed.data) };
  const issues = parsed.error.issues.map(({ path, message }) => ({
    path: path.join('.'),
    message,
  }));
  return { ok: false, issues };
}
