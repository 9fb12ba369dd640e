import type { Failure } from '../../shared/app/attempt.ts';
import { disrupt } from '../../shared/app/disrupt.ts';
import { relyOnExisting } from '../../shared/app/existing-nodes.ts';
import { planRollouts } from '../../shared/app/expected-pods.ts';
import { withPlannedLabels } from '../../shared/app/new-claims.ts';
import { type Outlook, observe, resolveTypes } from '../../shared/app/outlook.ts';
import { createClaims } from '../../shared/app/planned-claims.ts';
import { type AppSettings, appSettings } from '../../shared/app/settings.ts';
import { keepStaticCapacity } from '../../shared/app/static-capacity.ts';
import { isMoving } from '../../shared/core/disruption/candidates.ts';
import { conditionOf } from '../../shared/core/lifecycle/conditions.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  REPLACES,
  ZONE,
} from '../../shared/core/model/labels.ts';
import type { OfferingChoice, Plan, PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
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
import { DryCluster } from './dry-cluster.ts';

/** A NodeClaim that would be written, or that waits for an instance. */
export interface Launch {
  readonly nodeClaim: string;
  readonly nodePool: string;
  /** Undefined: EC2 chooses among all that the claim allows. */
  readonly chosen: OfferingChoice | undefined;
  /** `namespace/name`. */
  readonly pods: readonly string[];
  /** The claim whose node it replaces. */
  readonly replaces: string | undefined;
  readonly why: string;
}

/** A node that would go, now or once its replacements are ready. */
export interface Removal {
  readonly nodeClaim: string;
  readonly node: string | undefined;
  readonly nodePool: string;
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
  /** USD, list price; undefined: the catalog has none. */
  readonly pricePerHour: number | undefined;
  /** Pods that would move. */
  readonly pods: number;
  readonly action: 'remove' | 'replace';
  readonly replacedBy: readonly string[];
  readonly why: string;
}

/** What Joiner would do now, and why not more. */
export interface Preview {
  readonly plan: Plan;
  readonly overlays: readonly OverlayReport[];
  readonly launches: readonly Launch[];
  readonly removals: readonly Removal[];
  readonly drifted: readonly {
    readonly nodeClaim: string;
    readonly reason: string;
    readonly message: string;
  }[];
  /** What is held back, as an event would say it. */
  readonly held: readonly { readonly object: string; readonly message: string }[];
  /** USD an hour of all nodes of ours, list prices: as it is, and once all this is done. */
  readonly pricePerHour: { readonly now: number; readonly after: number };
  /** Steps that could not be taken. */
  readonly failures: readonly Failure[];
}

/** What a preview goes by. */
export interface Previewed {
  readonly live: Pick<ClusterReader, 'wantedPods'>;
  readonly state: ClusterState;
  readonly catalog: Catalog;
  readonly nowMs: number;
}

/** What functions remember in their bucket is not asked for. */
const NO_MEMORY: Memory = {
  unavailable: async () => [],
  markUnavailable: async () => undefined,
  failedRegistrations: async () => new Map(),
  recordRegistration: async () => undefined,
  learnAllocatable: async () => undefined,
  allocatable: async () => (_, __, computedBytes) => computedBytes,
};

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
  { catalog, nowMs }: Previewed,
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
    memory: NO_MEMORY,
    clock: { nowMs: () => nowMs, sleep: async () => undefined },
    ids: counted(),
    recorder: {
      decision: async (record) => {
        decisions.push(record);
      },
      count: () => undefined,
    },
    // The embedded catalog may lack a type that is new.
    isCatalogCurrent: () => false,
  };
}

/** The offering that labels name, with its prices. */
function offeringOf(
  claim: NodeClaim,
  types: ReadonlyMap<string, readonly InstanceType[]>,
): OfferingChoice | undefined {
  const { [NODE_POOL]: pool = '', [INSTANCE_TYPE]: name, [ZONE]: zone } = claim.labels;
  const type = types.get(pool)?.find((each) => each.name === name);
  const found = type?.offerings.find(
    (each) => each.zone === zone && each.capacityType === claim.labels[CAPACITY_TYPE],
  );
  if (type === undefined || found === undefined) return undefined;
  const { capacityType, price, listPrice, reservation } = found;
  return {
    type: type.name,
    zone: found.zone,
    capacityType,
    reservationId: reservation?.id,
    price,
    listPrice,
  };
}

/** Plans as `provision` does: static nodes first, which the plan for pods then finds on their way. */
async function provisioned(ports: Ports, settings: AppSettings, failures: Failure[]) {
  let outlook = await observe(ports, settings, failures);
  if (settings.staticCapacity && (await keepStaticCapacity(ports, outlook)) > 0) {
    outlook = await observe(ports, settings, failures);
  }
  const plan = await planRollouts(ports, outlook.snapshot, settings.scheduling, failures);
  const written = await createClaims(ports, outlook, plan);
  await relyOnExisting(ports, outlook, plan);
  return { outlook, plan, written };
}

type Provisioned = Awaited<ReturnType<typeof provisioned>>;

/** What else the planned claim could have been. */
function comparison({ runnerUp }: PlannedNodeClaim): string {
  if (runnerUp === undefined) return 'nothing else would do';
  const { type, zone, capacityType, why } = runnerUp;
  return `next best ${type} ${capacityType} in ${zone}: ${why}`;
}

function withReplaced(launch: Launch): Launch {
  return launch.replaces === undefined ? launch : { ...launch, why: `for ${launch.replaces}` };
}

function launchesOf(
  { plan, written, outlook }: Provisioned,
  created: readonly NodeClaim[],
  claims: readonly NodeClaim[],
  region: string,
): readonly Launch[] {
  const names = new Map(claims.map(({ uid, name }) => [uid, name]));
  const planned = new Map(
    written.map(({ claim, pods }) => [
      claim.name,
      plan.newNodeClaims.find((each) => each.pods === pods),
    ]),
  );
  const launchOf = (claim: NodeClaim): Launch => {
    const { name, labels, annotations } = claim;
    const own = planned.get(name);
    return {
      nodeClaim: name,
      nodePool: labels[NODE_POOL] ?? '',
      chosen: own?.chosen ?? plannedOffering(claim, outlook.snapshot.instanceTypes, region),
      pods: own?.pods ?? [],
      replaces: names.get(annotations[REPLACES] ?? ''),
      why: own === undefined ? 'spec.replicas of its NodePool' : comparison(own),
    };
  };
  const isWaiting = ({ providerId, deletedAtMs }: NodeClaim): boolean =>
    providerId === undefined && deletedAtMs === undefined;
  const waiting = claims.filter((claim) => isWaiting(claim) && !created.includes(claim));
  return [
    ...created.map(launchOf).map(withReplaced),
    ...waiting.map((claim) => ({ ...launchOf(claim), why: 'it waits for an instance' })),
  ];
}

/** What the claim's plan chose. */
function plannedOffering(
  claim: NodeClaim,
  types: ReadonlyMap<string, readonly InstanceType[]>,
  region: string,
): OfferingChoice | undefined {
  const own = types.get(claim.labels[NODE_POOL] ?? '') ?? [];
  return offeringOf(withPlannedLabels(claim, own, region), types);
}

/** What goes, and what is replaced once others are ready. */
function removalsOf(
  { objects }: ClusterState,
  cluster: DryCluster,
  { outlook }: Provisioned,
  decisions: readonly DecisionRecord[],
): readonly Removal[] {
  const { instanceTypes } = outlook.snapshot;
  const nodes = new Map(objects.nodes.map(({ providerId, name }) => [providerId, name]));
  const replacedBy = Map.groupBy(cluster.created, ({ annotations }) => annotations[REPLACES]);
  const why = new Map(
    decisions
      .filter(({ useCase }) => useCase === 'disrupt')
      .map(({ object, message }) => [object, message]),
  );
  return objects.nodeClaims
    .filter(({ uid }) => cluster.deleted.includes(uid) || replacedBy.has(uid))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((claim) => {
      const { uid, name, labels, providerId } = claim;
      const node = providerId === undefined ? undefined : nodes.get(providerId);
      const replacements = replacedBy.get(uid) ?? [];
      return {
        nodeClaim: name,
        node,
        nodePool: labels[NODE_POOL] ?? '',
        instanceType: labels[INSTANCE_TYPE],
        zone: labels[ZONE],
        capacityType: labels[CAPACITY_TYPE],
        pricePerHour: offeringOf(claim, instanceTypes)?.listPrice,
        pods: objects.pods.filter((pod) => pod.nodeName === node && isMoving(pod)).length,
        action: replacements.length > 0 ? ('replace' as const) : ('remove' as const),
        replacedBy: replacements.map((each) => each.name),
        why: why.get(`NodeClaim/${name}`) ?? 'spec.replicas of its NodePool',
      };
    });
}

/** Nodes that differ from what their NodePool and EC2NodeClass ask for, whether they go now or not. */
function driftOf({ objects }: ClusterState): Preview['drifted'] {
  return objects.nodeClaims.flatMap((claim) => {
    const drifted = conditionOf(claim, 'Drifted');
    if (drifted?.status !== 'True') return [];
    const { reason, message } = drifted;
    return [{ nodeClaim: claim.name, reason, message }];
  });
}

/** What waits: NodePools that are not ready, and nodes that may not go. */
function heldOf({ pools }: Outlook, { events }: DryCluster): Preview['held'] {
  const unready = pools.flatMap((pool) => {
    const ready = conditionOf(pool, 'Ready');
    if (ready === undefined || ready.status === 'True') return [];
    return [{ object: `NodePool/${pool.name}`, message: ready.message }];
  });
  // The same is said of a claim and of its node.
  const blocked = events
    .filter(({ reason, regarding }) => reason === 'DisruptionBlocked' && regarding.kind !== 'Node')
    .map(({ regarding, message }) => ({ object: `${regarding.kind}/${regarding.name}`, message }));
  return [...unready, ...blocked];
}

function priceOf(
  { objects }: ClusterState,
  types: ReadonlyMap<string, readonly InstanceType[]>,
): number {
  return objects.nodeClaims
    .filter(({ providerId }) => providerId !== undefined)
    .reduce((sum, claim) => sum + (offeringOf(claim, types)?.listPrice ?? 0), 0);
}

/** A copy of the cluster, and ports through which the use cases see it and nothing else. */
function copied(input: Previewed) {
  const state = { ...input.state, pausedUntilMs: {}, karpenterRenewedAtMs: undefined };
  const cluster = new DryCluster(state, input.live, input.nowMs);
  const decisions: DecisionRecord[] = [];
  const ports = dryPorts(input, cluster, decisions);
  const settings = appSettings('', { accountId: '', region: input.catalog.region });
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

/**
 * What one pass of `provision` and one of `disrupt` would do to the cluster as it was read: the use
 * cases of production, on a copy. Brakes and Karpenter's presence are left to whoever prints it.
 */
export async function preview(input: Previewed): Promise<Preview> {
  const { state, cluster, decisions, ports, settings } = copied(input);
  const { region } = input.catalog;
  const failures: Failure[] = [];
  const { overlays } = await resolveTypes(ports, settings, state);
  const made = await provisioned(ports, settings, failures);
  const { failures: refused } = await disrupt(ports, settings);
  const { instanceTypes } = made.outlook.snapshot;
  const { nodeClaims } = state.objects;
  const launches = launchesOf(made, cluster.created, nodeClaims, region);
  const removals = removalsOf(state, cluster, made, decisions);
  const now = priceOf(state, instanceTypes);
  const added = launches.reduce((sum, { chosen }) => sum + (chosen?.listPrice ?? 0), 0);
  const saved = removals.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
  return {
    plan: made.plan,
    overlays,
    launches,
    removals,
    drifted: driftOf(await cluster.read()),
    held: heldOf(made.outlook, cluster),
    pricePerHour: { now, after: now + added - saved },
    failures: [...failures, ...refused],
  };
}
