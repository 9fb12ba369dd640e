import type { StackSettings, UseCaseSettings } from '../../shared/api/stack-settings.ts';
import type { Failure } from '../../shared/app/attempt.ts';
import { disrupt } from '../../shared/app/disrupt.ts';
import { relyOnExisting } from '../../shared/app/existing-nodes.ts';
import { planRollouts } from '../../shared/app/expected-pods.ts';
import { withBackedOff } from '../../shared/app/launch-backoffs.ts';
import { isOurs } from '../../shared/app/offers.ts';
import { observe, resolveTypes } from '../../shared/app/outlook.ts';
import { createClaims } from '../../shared/app/planned-claims.ts';
import { type AppSettings, appSettings } from '../../shared/app/settings.ts';
import { keepStaticCapacity } from '../../shared/app/static-capacity.ts';
import type { Catalog as CatalogFacts } from '../../shared/catalog/facts.ts';
import { catalogPort } from '../../shared/catalog/port.ts';
import type { LaunchBackoff } from '../../shared/core/launch/launch-backoff.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import type { OverlayReport } from '../../shared/core/overlay/resolve.ts';
import type {
  Catalog,
  ClusterReader,
  ClusterState,
  DecisionRecord,
  Memory,
  Ports,
} from '../../shared/ports.ts';
import type { LiveCluster } from '../live.ts';
import type { Market } from '../market.ts';
import { launchEnvironmentOf } from '../stack-settings.ts';
import { listPrice } from '../top/rows.ts';
import { DryCluster } from './dry-cluster.ts';
import { type Launch, launchesOf, launchStatic } from './launches.ts';
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
  readonly kept: ReadonlyMap<string, string>;
  readonly pricePerHour: Prices;
  /** Steps that could not be taken. */
  readonly failures: readonly Failure[];
}

/** USD an hour of all nodes of ours, list prices. */
export interface Prices {
  readonly now: number;
  /** Once all this is done, and what goes already has gone. */
  readonly after: number;
  /** Nodes, there or to come, that are in neither, since their price is not known. */
  readonly unpriced: number;
}

/** What a preview goes by. */
export interface Previewed {
  readonly live: Pick<ClusterReader, 'wantedPods'>;
  readonly state: ClusterState;
  readonly catalog: Catalog;
  /** Where prices of nodes come from, whatever their NodePool can launch now. */
  readonly prices: CatalogFacts;
  readonly nowMs: number;
  /** Pods for which nothing is launched for now, by what their Events say. */
  readonly backoffs?: ReadonlyMap<string, LaunchBackoff>;
  /** What the functions have learnt; absent: nothing. */
  readonly memory?: Market['memory'];
  /** That the catalog lacks no type that is offered. @default false */
  readonly isCatalogCurrent?: boolean;
  /** What the stack decides by; absent: the defaults. */
  readonly settings?: UseCaseSettings;
}

/** What a preview of a cluster on these prices goes by. */
export async function previewedOn(
  { catalog: prices, memory, isCurrent }: Market,
  { reader, state, nowMs, backoffs }: Pick<LiveCluster, 'reader' | 'state' | 'nowMs' | 'backoffs'>,
  stack: StackSettings,
): Promise<Previewed> {
  const catalog = catalogPort(
    prices.region,
    () => prices,
    () => launchEnvironmentOf(stack),
  );
  const told = { backoffs: await backoffs(), memory, isCatalogCurrent: isCurrent };
  return { live: reader, state, catalog, prices, nowMs, settings: stack.useCases, ...told };
}

/** Nothing is remembered where no bucket is read, and nothing is written. */
const NO_MEMORY: Memory = {
  unavailable: async () => [],
  unavailableSubnets: async () => new Set(),
  markUnavailable: async () => undefined,
  forgetBars: async () => undefined,
  failedRegistrations: async () => new Map(),
  recordRegistration: async () => undefined,
  unusedLaunches: async () => [],
  recordOutcomes: async () => undefined,
  learnAllocatable: async () => undefined,
  allocatable: async () => (_, __, computedBytes) => computedBytes,
};

function rememberedBy(memory: Market['memory'], backoffs: Previewed['backoffs']): Memory {
  const told = backoffs === undefined ? {} : { toldBackoffs: backoffs };
  if (memory === undefined) return { ...NO_MEMORY, ...told };
  return {
    ...NO_MEMORY,
    ...told,
    unavailable: () => memory.unavailable(),
    unavailableSubnets: () => memory.unavailableSubnets(),
    failedRegistrations: () => memory.failedRegistrations(),
    unusedLaunches: () => memory.unusedLaunches(),
    allocatable: () => memory.allocatable(),
  };
}

function unused<Port extends object>(what: string): Port {
  return new Proxy({} as Port, {
    get: (_, member) => () => {
      throw new Error(`${what}.${String(member)} is no part of a preview`);
    },
  });
}

/** Names count, so that two previews of one state are the same bytes. */
function counted(): Ports['ids'] {
  let made = 0;
  return {
    suffix: () => {
      made += 1;
      return `new${made}`;
    },
  };
}

function dryPorts(
  { catalog, nowMs, backoffs, memory, isCatalogCurrent = false }: Previewed,
  cluster: DryCluster,
  decisions: DecisionRecord[],
): Ports {
  return {
    cluster,
    catalog,
    compute: unused('compute'),
    images: unused('images'),
    network: unused('network'),
    profiles: unused('profiles'),
    memory: rememberedBy(memory, backoffs),
    clock: { nowMs: () => nowMs, sleep: async () => undefined },
    ids: counted(),
    recorder: {
      decision: async (record) => {
        decisions.push(record);
      },
      count: () => undefined,
    },
    isCatalogCurrent: () => isCatalogCurrent,
  };
}

/** Plans as `provision` does: static nodes first, which the plan for pods then finds on their way. */
async function provisioned(
  ports: Ports,
  cluster: DryCluster,
  settings: AppSettings,
  failures: Failure[],
) {
  let outlook = await observe(ports, settings, failures);
  if (settings.staticCapacity && (await keepStaticCapacity(ports, outlook)) > 0) {
    const { instanceTypes } = outlook.snapshot;
    await launchStatic(cluster, instanceTypes, ports.catalog.region, ports.clock.nowMs());
    outlook = await observe(ports, settings, failures);
  }
  const rollouts = await planRollouts(ports, outlook.snapshot, settings.scheduling, failures);
  const plan = withBackedOff(rollouts.plan, outlook.backoffs);
  const written = await createClaims(ports, outlook, plan);
  failures.push(...(await relyOnExisting(ports, outlook, plan)).failures);
  return { outlook, plan, written };
}

/** A copy of the cluster, and ports through which the use cases see it and nothing else. */
function copied(input: Previewed) {
  const state = { ...input.state, pausedUntilMs: {}, karpenterRenewedAtMs: undefined };
  const cluster = new DryCluster(state, input.live, input.nowMs);
  const decisions: DecisionRecord[] = [];
  const ports = dryPorts(input, cluster, decisions);
  const envelope = { accountId: '', region: input.catalog.region };
  const settings = appSettings('', envelope, input.settings);
  return { state, cluster, decisions, ports, settings };
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
    stays: !gone.has(claim.name) && leavingBecause(claim, nowMs) === undefined,
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
 * cases of production, on a copy. Brakes and Karpenter's presence are left to whoever prints it.
 * `asked` is the claim of a node about which somebody asks why it stays.
 */
export async function preview(input: Previewed, asked?: string): Promise<Preview> {
  const { state, cluster, decisions, ports, settings } = copied(input);
  const { region } = input.catalog;
  const failures: Failure[] = [];
  const { overlays } = await resolveTypes(ports, settings, state);
  const made = await provisioned(ports, cluster, settings, failures);
  const { failures: refused, kept } = await disrupt(ports, settings, {
    saidMax: Number.POSITIVE_INFINITY,
    ...(asked === undefined ? {} : { asked }),
  });
  const { plan, written, outlook } = made;
  const { nodeClaims } = state.objects;
  const planned = { plan, written, types: outlook.snapshot.instanceTypes, region };
  const launches = launchesOf(planned, cluster.created, nodeClaims);
  const removals = removalsOf(state, cluster, input.prices, decisions);
  return {
    plan,
    overlays,
    launches,
    removals,
    drifted: driftOf(await cluster.read()),
    leaving: leavingOf(state, input.nowMs),
    held: heldOf(outlook, cluster),
    kept,
    pricePerHour: pricesOf(input, launches, removals),
    failures: [...failures, ...refused],
  };
}
