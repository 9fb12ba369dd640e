import { FEATURE_GATES } from '../contract.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../core/disruption/consolidation/payback.ts';
import { NO_LIMIT_GROUPS } from '../core/limit-groups/limit-groups.ts';
import { DEFAULT_SCHEDULING_SETTINGS, EFFORTS } from '../core/model/snapshot.ts';
import {
  choice,
  count,
  duration,
  flag,
  gates,
  groups,
  money,
  type SettingKind,
  share,
} from './setting-kinds.ts';

/**
 * Who reads a setting. `decisions`: a plan depends on it, so the functions, and from the ConfigMap of
 * the stack or a file also `joiner plan`, `simulate` and their like. `batches`: the functions; the
 * ConfigMap states it for people. `functions`: the functions alone.
 */
export type SettingUse = 'decisions' | 'batches' | 'functions';

/** A setting; in {@link SETTINGS} its key is the name of its prop. */
export interface Setting<Value> {
  /** The environment variable. Where Karpenter has the setting, it is Karpenter's. */
  readonly variable: string;
  /** How its values are written, and which are allowed. */
  readonly kind: SettingKind<Value>;
  readonly default: Value;
  readonly use: SettingUse;
}

/** The values that a setting's kind has. */
type ValueOf<Each> = Each extends { readonly kind: SettingKind<infer Value> } ? Value : never;

/** The table itself; a default that is not of its setting's kind does not compile. */
function settingsOf<
  const Table extends { readonly [Key in keyof Table]: Setting<ValueOf<Table[Key]>> },
>(table: Table): Table {
  return table;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Every setting that functions read from their environment. The variables that the stack sets, the
 * checks of its props, `-c`, the ConfigMap, settings files and the decoders are made of this table;
 * a setting that is not here does not compile, nor does one without a prop of its type in
 * `JoinerProps`. Their meanings are there.
 */
export const SETTINGS = settingsOf({
  featureGates: {
    variable: 'FEATURE_GATES',
    kind: gates(),
    default: FEATURE_GATES,
    use: 'decisions',
  },
  batchIdleDuration: {
    variable: 'BATCH_IDLE_DURATION',
    kind: duration(MINUTE_MS),
    default: 300,
    use: 'batches',
  },
  batchMaxDuration: {
    variable: 'BATCH_MAX_DURATION',
    kind: duration(MINUTE_MS),
    default: 3000,
    use: 'batches',
  },
  preferencePolicy: {
    variable: 'PREFERENCE_POLICY',
    kind: choice('Respect', 'Ignore'),
    default: DEFAULT_SCHEDULING_SETTINGS.preferencePolicy,
    use: 'decisions',
  },
  minValuesPolicy: {
    variable: 'MIN_VALUES_POLICY',
    kind: choice('Strict', 'BestEffort'),
    default: DEFAULT_SCHEDULING_SETTINGS.minValuesPolicy,
    use: 'decisions',
  },
  preferenceWorthZone: {
    variable: 'JOINER_PREFERENCE_WORTH_ZONE',
    kind: share(10),
    default: DEFAULT_SCHEDULING_SETTINGS.preferenceWorth.zone,
    use: 'decisions',
  },
  preferenceWorthOther: {
    variable: 'JOINER_PREFERENCE_WORTH_OTHER',
    kind: share(10),
    default: DEFAULT_SCHEDULING_SETTINGS.preferenceWorth.other,
    use: 'decisions',
  },
  nodePrice: {
    variable: 'JOINER_NODE_PRICE',
    kind: money(1000),
    default: DEFAULT_SCHEDULING_SETTINGS.nodePrice,
    use: 'decisions',
  },
  effort: {
    variable: 'JOINER_EFFORT',
    kind: choice(...EFFORTS),
    default: DEFAULT_SCHEDULING_SETTINGS.effort,
    use: 'decisions',
  },
  consolidationHorizon: {
    variable: 'JOINER_CONSOLIDATION_HORIZON',
    kind: duration(30 * DAY_MS),
    default: DEFAULT_CONSOLIDATION_SETTINGS.horizonMs,
    use: 'decisions',
  },
  evictionPrice: {
    variable: 'JOINER_EVICTION_PRICE',
    kind: money(1000),
    default: DEFAULT_CONSOLIDATION_SETTINGS.evictionPrice,
    use: 'decisions',
  },
  vmMemoryOverhead: {
    variable: 'VM_MEMORY_OVERHEAD_PERCENT',
    kind: share(0.9),
    default: 0.075,
    use: 'decisions',
  },
  reservedEnis: {
    variable: 'RESERVED_ENIS',
    kind: count(0, 100),
    default: 0,
    use: 'decisions',
  },
  maxLaunchesPerMinute: {
    variable: 'JOINER_MAX_LAUNCHES_PER_MINUTE',
    kind: count(1, 10_000),
    default: 200,
    use: 'decisions',
  },
  maxTerminationsPerMinute: {
    variable: 'JOINER_MAX_TERMINATIONS_PER_MINUTE',
    kind: count(1, 10_000),
    default: 50,
    use: 'decisions',
  },
  limitGroups: {
    variable: 'JOINER_LIMIT_GROUPS',
    kind: groups(),
    default: NO_LIMIT_GROUPS,
    use: 'decisions',
  },
  isolatedVpc: {
    variable: 'ISOLATED_VPC',
    kind: flag(),
    default: false,
    use: 'functions',
  },
});

/** A prop that is a setting. */
export type SettingKey = keyof typeof SETTINGS;

/** The settings of some kinds. */
export type SettingKeyOf<Name extends SettingKind<unknown>['name']> = {
  [Key in SettingKey]: (typeof SETTINGS)[Key]['kind']['name'] extends Name ? Key : never;
}[SettingKey];

/** The values of all settings; durations in milliseconds. */
export type Settings = {
  readonly [Key in SettingKey]: ValueOf<(typeof SETTINGS)[Key]>;
};

export function isSettingKey(name: string): name is SettingKey {
  return Object.hasOwn(SETTINGS, name);
}

export const SETTING_KEYS: readonly SettingKey[] = Object.keys(SETTINGS).filter(isSettingKey);

/** A setting whatever its values are, for those who treat all of them alike. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return SETTINGS[key];
}

/** All settings; `decode` has to give each a value of its kind. */
export function settingsBy(decode: (key: SettingKey) => unknown): Settings {
  return Object.fromEntries(SETTING_KEYS.map((key) => [key, decode(key)])) as Settings;
}

export const DEFAULT_SETTINGS: Settings = settingsBy((key) => SETTINGS[key].default);
