import { observe, resolveTypes } from '../app/planning/provisioning-input.ts';
import type { Failure } from '../app/writes/attempt.ts';
import { listPrice } from '../catalog/list-price.ts';
import type { Reason } from '../core/explain/reason.ts';
import { isOurs } from '../core/launch/node-classes.ts';
import type { Plan } from '../core/model/plan.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../core/model/snapshot.ts';
import type { OverlayReport } from '../core/overlay/resolve.ts';
import { copied, type Previewed } from './copy.ts';
import { type DryRun, type DryRunOptions, dryRun } from './dry-run.ts';
import { type Launch, launchesOf } from './launches.ts';
import {
  type Drifted,
  driftOf,
  heldOf,
  type Leaving,
  leavingBecause,
  leavingOf,
  type Remark,
  type Removal,
  removalsOf,
} from './removals.ts';

/** What Joiner would do now, and why not more. */
export interface Preview {
  readonly plan: Plan;
  readonly overlays: readonly OverlayReport[];
  readonly launches: readonly Launch[];
  readonly removals: readonly Removal[];
  readonly drifted: readonly Drifted[];
  /** Nodes that go already. */
  readonly leaving: readonly Leaving[];
  /** What is held back, as an event would say it. */
  readonly held: readonly Remark[];
  /** Why nodes with pods are not consolidated, by the claim's name. */
  readonly kept: ReadonlyMap<string, readonly Reason[]>;
  readonly pricePerHour: Prices;
  /** Steps that could not be taken. */
  readonly failures: readonly Failure[];
  /** What was planned on. */
  readonly snapshot: ClusterSnapshot;
}

/** USD an hour of all nodes of ours, list prices. */
export interface Prices {
  readonly now: number;
  /** Once all this is done, and what goes already has gone. */
  readonly after: number;
  /** Nodes, there or to come, that are in neither, since their price is not known. */
  readonly unpriced: number;
}

/** What `provision` would plan on, and by which settings. */
export async function planningOf(
  input: Previewed,
): Promise<{ readonly snapshot: ClusterSnapshot; readonly settings: SchedulingSettings }> {
  const { ports, settings } = copied(input);
  const { snapshot } = await observe(ports, settings, []);
  return { snapshot, settings: settings.scheduling };
}

function pricesOf(
  { state, prices, nowMs }: Previewed,
  launches: readonly Launch[],
  removals: readonly Removal[],
): Prices {
  const running = state.objects.nodeClaims.filter(
    ({ providerId, nodeClassRef }) => providerId !== undefined && isOurs(nodeClassRef),
  );
  const gone = new Set(removals.map(({ nodeClaim }) => nodeClaim));
  const priced = running.map((claim) => ({
    price: listPrice(prices, claim.labels),
    stays: !gone.has(claim.name) && leavingBecause(claim, state, nowMs) === undefined,
  }));
  const sum = (all: readonly (number | undefined)[]): number =>
    all.reduce<number>((total, price) => total + (price ?? 0), 0);
  const added = launches.map(({ chosen }) => chosen?.listPrice);
  return {
    now: sum(priced.map(({ price }) => price)),
    after: sum([...priced.filter(({ stays }) => stays).map(({ price }) => price), ...added]),
    unpriced: [...priced.map(({ price }) => price), ...added].filter((each) => each === undefined)
      .length,
  };
}

/**
 * What one pass of `provision` and one of `disrupt` would do to the cluster as it was read: the use
 * cases of production, on a copy. It ignores pauses and Karpenter's Lease: the caller prints them.
 * Only what lifecycle does by itself, expiration, is said to wait for a pause.
 */
export async function preview(input: Previewed, options: DryRunOptions = {}): Promise<Preview> {
  return await previewOf(await dryRun(input, options), input);
}

/** A pass that was made on a copy, as people look at it. */
export async function previewOf(run: DryRun, input: Previewed): Promise<Preview> {
  const { plan, written, provisioning, kept, failures } = run;
  const { state, cluster, decisions, ports, settings } = run.copy;
  const { region } = input.catalog;
  const { overlays } = await resolveTypes(ports, settings, state);
  const { nodeClaims } = state.objects;
  const planned = { plan, written, types: provisioning.snapshot.instanceTypes, region };
  const launches = launchesOf(planned, cluster.created, nodeClaims);
  const removals = removalsOf(state, cluster, input.prices, decisions);
  return {
    plan,
    overlays,
    launches,
    removals,
    drifted: driftOf(await cluster.read()),
    leaving: leavingOf(input.state, input.nowMs),
    held: heldOf(provisioning, cluster, input.state, input.nowMs),
    kept,
    pricePerHour: pricesOf(input, launches, removals),
    failures,
    snapshot: provisioning.snapshot,
  };
}
