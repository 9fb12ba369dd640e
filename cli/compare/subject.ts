import { maintainNodeClasses } from '../../shared/app/nodeclass/nodeclass.ts';
import type { StackSettings } from '../../shared/app/settings.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import type { ConsolidationSettings } from '../../shared/core/disruption/consolidation/payback.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../shared/core/disruption/consolidation/payback.ts';
import { deploymentOf } from '../../shared/core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { sharedGroupNotes } from '../../shared/preview/dry-group-usages.ts';
import { planningOf } from '../../shared/preview/preview.ts';
import type { Json } from '../../shared/sim/json.ts';
import { heldBackNotes, type LiveCluster } from '../live.ts';
import { type MarketOptions, marketOf } from '../market.ts';
import { previewedOn } from '../plan/basis.ts';
import { prepareSimulation } from '../simulate/run.ts';
import type { SettingsOptions } from '../stack-settings.ts';

/** What both ways decide on. */
export interface Subject {
  readonly snapshot: ClusterSnapshot;
  readonly scheduling: SchedulingSettings;
  readonly consolidation: ConsolidationSettings;
  readonly nowMs: number;
  readonly region: string;
  /** Where the prices come from. */
  readonly source: string;
  /** A cluster as it runs, of which the manifests may be; others have no nodes yet. */
  readonly isLive: boolean;
  /** Pods that wait and that the manifests do not have: those of a new EKS cluster. */
  readonly added: number;
  readonly notes: readonly string[];
}

/** Controllers have made the pods by then, and nothing is planned yet. */
const BEFORE_PLANNING_MS = 100;

export interface AppliedOptions {
  /** @default those of a stack that states none */
  readonly stack?: StackSettings | undefined;
  /** Deployments that the manifests do not have, `namespace/name`. @default none */
  readonly added?: ReadonlySet<string>;
}

/** The manifests as a cluster has them right after they were applied. */
export async function appliedManifests(
  manifests: readonly Json[],
  prices: Catalog,
  { stack, added = new Set() }: AppliedOptions = {},
): Promise<Subject> {
  const given = stack === undefined ? {} : { stack };
  const input = { catalog: prices, seed: 1, manifests, ...given };
  const { world, source } = await prepareSimulation(input);
  await world.run(world.startMs + BEFORE_PLANNING_MS);
  const failures = await maintainNodeClasses(world.ports);
  const { cluster: live, catalog } = world.ports;
  const state = await live.read();
  const nowMs = world.ports.clock.nowMs();
  const settings = stack === undefined ? {} : { settings: stack.useCases };
  const planning = await planningOf({ live, state, catalog, prices, nowMs, ...settings });
  const { pods } = planning.snapshot;
  return {
    snapshot: planning.snapshot,
    scheduling: planning.settings,
    consolidation: stack?.useCases.consolidation ?? DEFAULT_CONSOLIDATION_SETTINGS,
    nowMs,
    region: prices.region,
    source,
    isLive: planning.snapshot.nodes.length > 0,
    added: pods.filter((pod) => isReschedulable(pod) && added.has(deploymentOf(pod))).length,
    notes: failures.map(({ object, message }) => `${object}: ${message}`),
  };
}

/** The cluster as it was read. */
export async function runningCluster(
  live: LiveCluster,
  options: SettingsOptions & MarketOptions,
): Promise<Subject> {
  const { state, nowMs, unreadable } = live;
  const market = await marketOf(live, options);
  const { stack, notes } = live.settings(options);
  const shared = sharedGroupNotes(stack.useCases, market.groupUsages);
  const previewed = await previewedOn(market, live, stack);
  const { snapshot, settings } = await planningOf(previewed);
  return {
    snapshot,
    scheduling: settings,
    consolidation: stack.useCases.consolidation ?? DEFAULT_CONSOLIDATION_SETTINGS,
    nowMs,
    region: market.catalog.region,
    source: previewed.catalog.source,
    isLive: true,
    added: 0,
    notes: [...unreadable, ...notes, ...market.notes, ...shared, ...heldBackNotes(state, nowMs)],
  };
}
