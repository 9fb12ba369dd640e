import * as z from 'zod';
import { type AppSettings, appSettings } from '../../shared/app/settings.ts';
import {
  ENV,
  FEATURE_GATES,
  type FeatureGate,
  FUNCTION_NAMES,
  type FunctionName,
} from '../../shared/contract.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../shared/core/disruption/consolidation/payback.ts';
import { parseDurationMs } from '../../shared/core/duration.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../shared/core/model/snapshot.ts';

/** What a function's environment says, read once in each sandbox. */
export interface Config {
  readonly cluster: string;
  readonly region: string;
  readonly account: string;
  readonly dnsSuffix: string;
  readonly functionName: FunctionName;
  readonly version: string;
  readonly bucket: string;
  readonly eventBus: string;
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
  readonly memoryOverhead: number;
  readonly reservedEnis: number;
  readonly isolatedVpc: boolean;
  readonly gates: Readonly<Record<FeatureGate, boolean>>;
  readonly settings: AppSettings;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Karpenter's durations: one or more numbers with units, e.g. `300ms` or `1m30s`. */
const duration = z.string().transform((text, context) => {
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'must be a duration such as 300ms or 3s' });
  return z.NEVER;
});

const GATE_NAMES = Object.keys(FEATURE_GATES) as FeatureGate[];

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
const text = z.string().min(1);

const environment = z.object({
  [ENV.cluster]: text,
  AWS_REGION: text,
  [ENV.account]: z.string().regex(/^[0-9]{12}$/, { message: 'must be twelve digits' }),
  [ENV.dnsSuffix]: text.default('amazonaws.com'),
  [ENV.function]: z.enum(FUNCTION_NAMES),
  [ENV.version]: text,
  [ENV.bucket]: text,
  [ENV.eventBus]: text,
  [ENV.batchIdleDuration]: duration.default(300),
  [ENV.batchMaxDuration]: duration.default(3000),
  [ENV.featureGates]: featureGates.default({ ...FEATURE_GATES }),
  [ENV.launchesPerMinuteMax]: count.default(200),
  [ENV.terminationsPerMinuteMax]: count.default(50),
  [ENV.preferencePolicy]: z.enum(['Respect', 'Ignore']).default('Respect'),
  [ENV.minValuesPolicy]: z.enum(['Strict', 'BestEffort']).default('Strict'),
  [ENV.preferenceWorthZone]: share.default(DEFAULT_SCHEDULING_SETTINGS.preferenceWorth.zone),
  [ENV.preferenceWorthOther]: share.default(DEFAULT_SCHEDULING_SETTINGS.preferenceWorth.other),
  [ENV.consolidationHorizon]: duration.default(DEFAULT_CONSOLIDATION_SETTINGS.horizonMs),
  [ENV.evictionPrice]: share.default(DEFAULT_CONSOLIDATION_SETTINGS.evictionPrice),
  [ENV.vmMemoryOverhead]: share.default(0.075),
  [ENV.reservedEnis]: count.default(0),
  [ENV.isolatedVpc]: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .default(false),
});

/** Reads the environment; every fault is named at once, with the variable's name. */
export function readConfig(env: Environment): Config {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`the function's environment is not valid: ${faults.join('; ')}`);
  }
  const { data } = parsed;
  const gates = data[ENV.featureGates];
  return {
    cluster: data[ENV.cluster],
    region: data.AWS_REGION,
    account: data[ENV.account],
    dnsSuffix: data[ENV.dnsSuffix],
    functionName: data[ENV.function],
    version: data[ENV.version],
    bucket: data[ENV.bucket],
    eventBus: data[ENV.eventBus],
    batchIdleMs: data[ENV.batchIdleDuration],
    batchMaxMs: data[ENV.batchMaxDuration],
    memoryOverhead: data[ENV.vmMemoryOverhead],
    reservedEnis: data[ENV.reservedEnis],
    isolatedVpc: data[ENV.isolatedVpc],
    gates,
    settings: settingsOf(data, gates),
  };
}

function settingsOf(
  data: z.output<typeof environment>,
  gates: Readonly<Record<FeatureGate, boolean>>,
): AppSettings {
  const envelope = { accountId: data[ENV.account], region: data.AWS_REGION };
  return appSettings(data[ENV.cluster], envelope, {
    staticCapacity: gates.StaticCapacity,
    capacityBuffer: gates.CapacityBuffer,
    nodeRepair: gates.NodeRepair,
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
    },
  });
}
