import type { Planning } from '../../shared/app/recording/recording.ts';
import { meant } from '../../shared/contract/nearest.ts';
import type { Reading, SettingKind } from '../../shared/contract/setting-kinds.ts';
import { SETTINGS, type SettingKey, type Settings } from '../../shared/contract/settings.ts';
import type { FeatureGate } from '../../shared/contract.ts';
import type { ConsolidationSettings } from '../../shared/core/disruption/consolidation/payback.ts';
import type { Consolidation } from '../../shared/core/disruption/consolidation/search.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { gatesFault } from '../feature-gates.ts';

/** Settings that are not those of the recording. */
export interface Changes {
  readonly scheduling?: (settings: SchedulingSettings) => SchedulingSettings;
  readonly consolidation?: (settings: ConsolidationSettings) => ConsolidationSettings;
}

/** What recorded moments are decided with. */
export interface Variant {
  /** Settings by key, as they were given. */
  readonly set: Readonly<Record<string, string>>;
  /** NodePools that are put in place of those of their name, or beside those that are there. */
  readonly nodePools: readonly NodePool[];
  /** `karpenter`: the documented first-fit rules. */
  readonly rules: 'joiner' | 'karpenter';
}

type Gates = Partial<Readonly<Record<FeatureGate, boolean>>>;

function gateChanges(gates: Gates): Changes {
  const { ReservedCapacity, NodeOverlay, SpotToSpotConsolidation } = gates;
  return {
    scheduling: (settings) => ({
      ...settings,
      ...(ReservedCapacity === undefined ? {} : { reservedCapacity: ReservedCapacity }),
      ...(NodeOverlay === undefined ? {} : { nodeOverlay: NodeOverlay }),
    }),
    consolidation: (settings) =>
      SpotToSpotConsolidation === undefined
        ? settings
        : { ...settings, spotToSpot: SpotToSpotConsolidation },
  };
}

/** Reads the text of a setting as what it changes. */
type Change = (text: string) => Reading<Changes>;

function change<Value>({ read }: SettingKind<Value>, make: (value: Value) => Changes): Change {
  return (text) => {
    const found = read(text);
    return 'value' in found ? { value: make(found.value) } : found;
  };
}

/** Of feature gates only those that are named change; the others are as recorded. */
function changedGates(text: string): Reading<Changes> {
  const fault = gatesFault(text);
  if (fault !== undefined) return { fault };
  const named = text.split(',').map((entry) => entry.split('=')[0]);
  const only = (gates: Settings['featureGates']): Gates =>
    Object.fromEntries(Object.entries(gates).filter(([name]) => named.includes(name)));
  return change(SETTINGS.featureGates.kind, (gates) => gateChanges(only(gates)))(text);
}

/** By setting: what it changes about a recorded decision. Others are no part of recordings. */
const CHANGES: ReadonlyMap<string, Change> = new Map<SettingKey, Change>([
  [
    'nodePrice',
    change(SETTINGS.nodePrice.kind, (nodePrice) => ({
      scheduling: (all) => ({ ...all, nodePrice }),
    })),
  ],
  [
    'preferencePolicy',
    change(SETTINGS.preferencePolicy.kind, (preferencePolicy) => ({
      scheduling: (all) => ({ ...all, preferencePolicy }),
    })),
  ],
  [
    'minValuesPolicy',
    change(SETTINGS.minValuesPolicy.kind, (minValuesPolicy) => ({
      scheduling: (all) => ({ ...all, minValuesPolicy }),
    })),
  ],
  [
    'preferenceWorthZone',
    change(SETTINGS.preferenceWorthZone.kind, (zone) => ({
      scheduling: (all) => ({ ...all, preferenceWorth: { ...all.preferenceWorth, zone } }),
    })),
  ],
  [
    'preferenceWorthOther',
    change(SETTINGS.preferenceWorthOther.kind, (other) => ({
      scheduling: (all) => ({ ...all, preferenceWorth: { ...all.preferenceWorth, other } }),
    })),
  ],
  [
    'effort',
    change(SETTINGS.effort.kind, (effort) => ({
      scheduling: (all) => ({ ...all, effort }),
    })),
  ],
  [
    'consolidationHorizon',
    change(SETTINGS.consolidationHorizon.kind, (horizonMs) => ({
      consolidation: (all) => ({ ...all, horizonMs }),
    })),
  ],
  [
    'evictionPrice',
    change(SETTINGS.evictionPrice.kind, (evictionPrice) => ({
      consolidation: (all) => ({ ...all, evictionPrice }),
    })),
  ],
  ['featureGates', changedGates],
]);

/** Settings that a back-test can change. */
const CHANGEABLE = [...CHANGES.keys()].sort();

/** What is changed by a setting, or what is wrong with it. */
function changeOf(key: string, text: string): Changes | { readonly fault: string } {
  const read = CHANGES.get(key)?.(text);
  if (read === undefined) {
    const valid = CHANGEABLE.join(', ');
    const near = meant(key, CHANGEABLE);
    return { fault: `--set ${key}: not a setting of recorded decisions${near}; valid: ${valid}` };
  }
  return 'fault' in read ? { fault: `--set ${key} ${read.fault}` } : read.value;
}

/** The settings of a variant as changes, in their order; `faults` has what is wrong. */
export function changesOf(set: Variant['set']): {
  readonly changes: readonly Changes[];
  readonly faults: readonly string[];
} {
  const all = Object.entries(set).map(([key, text]) => changeOf(key, text));
  return {
    changes: all.flatMap((each) => ('fault' in each ? [] : [each])),
    faults: all.flatMap((each) => ('fault' in each ? [each.fault] : [])),
  };
}

/**
 * The snapshot with other NodePools. A pool keeps the instance types and conditions of the pool of
 * its name, or has those of a pool with the same EC2NodeClass; `unknown`: there is none.
 */
export function withPools(
  snapshot: ClusterSnapshot,
  nodePools: readonly NodePool[],
): { readonly snapshot: ClusterSnapshot; readonly unknown: readonly string[] } {
  const types = new Map(snapshot.instanceTypes);
  const pools = new Map(snapshot.nodePools.map((each) => [each.name, each]));
  const unknown: string[] = [];
  for (const pool of nodePools) {
    const same = snapshot.nodePools
      .filter(({ template }) => template.nodeClassRef.name === pool.template.nodeClassRef.name)
      .sort((a, b) =>
        a.name === pool.name ? -1 : b.name === pool.name ? 1 : a.name < b.name ? -1 : 1,
      )
      .find(({ name }) => snapshot.instanceTypes.has(name));
    const list = same && snapshot.instanceTypes.get(same.name);
    if (same === undefined || list === undefined) {
      unknown.push(pool.name);
      continue;
    }
    const { conditions } = same;
    const uid = pools.get(pool.name)?.uid ?? `backtest/${pool.name}`;
    pools.set(pool.name, { ...pool, uid, conditions, isDeleting: false });
    types.set(pool.name, list);
  }
  return {
    snapshot: { ...snapshot, nodePools: [...pools.values()], instanceTypes: types },
    unknown,
  };
}

function schedulingWith(changes: readonly Changes[], from: SchedulingSettings) {
  return changes.reduce((all, { scheduling }) => scheduling?.(all) ?? all, from);
}

/** A recorded plan's input with the variant's settings and NodePools. */
export function changedPlanning(
  { snapshot, settings, expected }: Planning,
  changes: readonly Changes[],
  nodePools: readonly NodePool[],
): Planning {
  return {
    snapshot: withPools(snapshot, nodePools).snapshot,
    settings: schedulingWith(changes, settings),
    expected,
  };
}

/** A recorded search's input with the variant's settings and NodePools. */
export function changedSearch(
  search: Consolidation,
  changes: readonly Changes[],
  nodePools: readonly NodePool[],
): Consolidation {
  const { snapshot } = withPools(search.snapshot, nodePools);
  const pools = new Map(snapshot.nodePools.map((each) => [each.name, each]));
  return {
    ...search,
    snapshot,
    candidates: search.candidates.map((each) => ({
      ...each,
      pool: pools.get(each.pool.name) ?? each.pool,
    })),
    scheduling: schedulingWith(changes, search.scheduling),
    settings: changes.reduce(
      (all, { consolidation }) => consolidation?.(all) ?? all,
      search.settings,
    ),
  };
}
