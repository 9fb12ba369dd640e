import { FAULTS } from '../../core/launch/faults.ts';
import {
  type FailedLaunches,
  haltedPools,
  launchWay,
  withLaunchWay,
} from '../../core/launch/halted-pools.ts';
import { imageFinder } from '../../core/launch/launch-request.ts';
import { nodeClassOf } from '../../core/launch/node-classes.ts';
import { chooseLaunch } from '../../core/launch/overrides.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { withGroupCaps } from '../../core/limit-groups/group-room.ts';
import { capsAt, unknownGroup } from '../../core/limit-groups/limit-groups.ts';
import type { InstanceType } from '../../core/model/instance-type.ts';
import { claimOfNode } from '../../core/model/joins.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClass } from '../../core/model/node-class.ts';
import { isBufferPod, type Pod, podKey } from '../../core/model/pod.ts';
import type { NodeClaim, NodeOverlay, NodePool } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { isWaiting } from '../../core/nomination/planned-pods.ts';
import {
  type OverlayReport,
  type OverlayResolution,
  resolveOverlays,
} from '../../core/overlay/resolve.ts';
import { pauseFault } from '../../core/pause-windows.ts';
import { Remembered } from '../../core/remembered.ts';
import { withoutEnding } from '../../core/rollouts/ending-pods.ts';
import { withoutSuperseded } from '../../core/rollouts/superseded.ts';
import type { ClusterState, Ports } from '../../ports.ts';
import { readAvailableTypes } from '../instance-types/available-types.ts';
import { shiftDegradation, zonesAway } from '../instance-types/zonal-shifts.ts';
import type { AppSettings } from '../settings.ts';
import type { Failure } from '../writes/attempt.ts';
import { KarpenterLease, untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { bufferPods } from './capacity-buffers.ts';
import { type LaunchBackoffs, readLaunchBackoffs, withoutBackedOff } from './launch-backoffs.ts';
import { staticClaim, withPlannedLabels } from './new-claims.ts';
import { SharedGroups } from './shared-groups.ts';
import { withPoolConditions, writeOverlayStatuses, writePoolStatuses } from './statuses.ts';

/** What a claim can be launched as. */
export type TypesOf = (
  claim: Pick<NodeClaim, 'labels' | 'nodeClassRef'>,
) => readonly InstanceType[];

/** Everything one round decides on. */
export interface ProvisioningInput {
  /** Those of the round: a write once Karpenter is active ends it. */
  readonly ports: Ports;
  readonly state: ClusterState;
  readonly karpenter: KarpenterLease;
  readonly failures: Failure[];
  readonly pools: readonly NodePool[];
  readonly snapshot: ClusterSnapshot;
  /** Room that is reserved before NodeClaims are written. */
  readonly shared: SharedGroups;
  readonly typesOf: TypesOf;
  readonly backoffs: LaunchBackoffs;
  /** The pods of the snapshot, and those on draining nodes in whose place others are demand. */
  readonly present: readonly Pod[];
  /** Pods of CapacityBuffers, which exist in the snapshot only. */
  readonly virtual: ReadonlySet<string>;
  /** When everything was read, and nothing decided yet. */
  readonly readyAtMs: number;
  /** When reading began. */
  readonly startedAtMs: number;
}

/** What each pool can launch after overlays, and what the resolver says of each overlay. */
export interface Resolution {
  readonly instanceTypes: ReadonlyMap<string, readonly InstanceType[]>;
  readonly overlays: readonly OverlayReport[];
  /** Before overlays, for claims without a pool. */
  readonly byNodeClass: ReadonlyMap<string, readonly InstanceType[]>;
}

/** Of the lists that a class has by turns, such as with and without a shortage. */
const LISTS_MAX = 4;
const withImages = new Remembered<readonly InstanceType[], readonly InstanceType[]>(LISTS_MAX);

/** What no image is meant for cannot be launched: a plan with it would be given up each time. */
function imagedTypes(
  types: readonly InstanceType[],
  { status }: NodeClass,
): readonly InstanceType[] {
  return withImages.of(types, JSON.stringify(status.images), () => {
    const imageOf = imageFinder(status.images);
    return types.filter((type) => imageOf(type) !== undefined);
  });
}

const resolutions = new Remembered<readonly InstanceType[], OverlayResolution>(LISTS_MAX);
const numbers = new WeakMap<readonly InstanceType[], number>();
let numbered = 0;

/** Lists are told apart by number: each gets its own when it is first seen. */
function numberOf(list: readonly InstanceType[]): number {
  const before = numbers.get(list);
  if (before !== undefined) return before;
  numbered += 1;
  numbers.set(list, numbered);
  return numbered;
}

/**
 * Overlays are a pure function of pools, types and overlays: where all of them are as they were in
 * an earlier pass, so is what came of them, and whoever plans finds the same lists.
 */
function resolved(
  nodePools: readonly NodePool[],
  listed: ReadonlyMap<string, readonly InstanceType[]>,
  overlays: readonly NodeOverlay[],
): OverlayResolution {
  const [first] = listed.values();
  if (first === undefined) return resolveOverlays(nodePools, listed, overlays);
  const pools = nodePools.map(({ name, template }) => {
    const list = listed.get(name);
    return [name, template.labels, list === undefined ? 0 : numberOf(list)];
  });
  const text = JSON.stringify([pools, overlays]);
  return resolutions.of(first, text, () => resolveOverlays(nodePools, listed, overlays));
}

/** Of the NodePools that `wants` names, also what was short a while ago, where they have nothing else. */
export async function resolveTypes(
  ports: Ports,
  settings: AppSettings,
  state: ClusterState,
  wants: (pool: NodePool) => boolean = () => false,
): Promise<Resolution> {
  const { scheduling } = settings;
  const { byNodeClass, lastResorts } = await readAvailableTypes(ports, state, scheduling);
  const { nodePools, nodeOverlays } = state.objects;
  const listed = nodePools.flatMap((pool) => {
    const nodeClass = nodeClassOf(state, pool.template.nodeClassRef);
    const types = nodeClass && byNodeClass.get(nodeClass.name);
    if (nodeClass === undefined || types === undefined) return [];
    const own = imagedTypes(types, nodeClass);
    const last = lastResorts.get(nodeClass.name);
    if (last === undefined || last === types || !wants(pool)) return [[pool.name, own] as const];
    const choice = chooseLaunch(staticClaim(pool, ''), own, 1, scheduling.minValuesPolicy);
    return [[pool.name, 'stages' in choice ? imagedTypes(last, nodeClass) : own] as const];
  });
  const overlays = scheduling.nodeOverlay ? nodeOverlays : [];
  return { ...resolved(nodePools, new Map(listed), overlays), byNodeClass };
}

/**
 * Which NodePools are to launch something, if need be the last that is left: static ones, and all
 * others while pods wait for whom nothing could be launched since a shortage was first met.
 */
export function wantsOf({ objects }: ClusterState, nowMs: number): (pool: NodePool) => boolean {
  const sinceMs = nowMs - FAULTS.shortage.firstMs;
  const isLong = objects.pods.some((pod) => isWaiting(pod) && pod.createdAtMs <= sinceMs);
  return ({ replicas }) => isLong || replicas !== undefined;
}

/** What each claim can be launched as. */
export function typesByClaim({ instanceTypes, byNodeClass }: Resolution): TypesOf {
  return (claim) =>
    instanceTypes.get(claim.labels[NODE_POOL] ?? '') ??
    byNodeClass.get(claim.nodeClassRef.name) ??
    [];
}

/**
 * A node has most of its labels only once it is registered. Until then its claim says what it will
 * be: else the pods that wait for it would seem to need another node.
 */
function withAwaitedLabels({ objects }: ClusterState): ClusterState['objects']['nodes'] {
  return objects.nodes.map((node) => {
    const claim = claimOfNode(objects.nodeClaims, node);
    return claim === undefined || isTrue(claim, 'Registered')
      ? node
      : { ...node, labels: { ...claim.labels, ...node.labels } };
  });
}

/** No node is planned in a pool whose launches do not join: its pods may find another. */
export function withoutHalted(
  pools: readonly NodePool[],
  halted: ReadonlySet<string>,
): readonly NodePool[] {
  const notReady = { type: 'Ready', status: 'False', reason: 'LaunchesHalted' } as const;
  return pools.map((pool) => {
    if (!halted.has(pool.name)) return pool;
    const others = pool.conditions.filter((each) => each.type !== 'Ready');
    const message = 'its last nodes did not register';
    const conditions = [...others, { ...notReady, message, lastTransitionAtMs: 0 }];
    return { ...pool, conditions };
  });
}

/** Launches that failed, by NodePool; a change of it or of its class ends what was before. */
async function readFailedLaunches(
  { memory }: Ports,
  state: ClusterState,
  nowMs: number,
): Promise<ReadonlyMap<string, FailedLaunches>> {
  const failed = new Map(await memory.failedRegistrations());
  for (const pool of state.objects.nodePools) {
    const known = failed.get(pool.name);
    if (known === undefined) continue;
    const way = launchWay(pool, nodeClassOf(state, pool.template.nodeClassRef));
    if (known.way === way) continue;
    await memory.recordLaunchWay(pool.name, way);
    failed.set(pool.name, withLaunchWay(known, way, nowMs));
  }
  return failed;
}

/** Reads the cluster, and writes the statuses that follow from it while Karpenter is not active. */
export async function observe(
  unguarded: Ports,
  settings: AppSettings,
  failures: Failure[],
): Promise<ProvisioningInput> {
  const startedAtMs = unguarded.clock.nowMs();
  const shared = await SharedGroups.read(unguarded, settings);
  const state = await unguarded.cluster.read();
  const nowMs = unguarded.clock.nowMs();
  const karpenter = new KarpenterLease(unguarded, state, startedAtMs);
  const ports = karpenter.guarded(unguarded);
  const failed = await readFailedLaunches(ports, state, nowMs);
  const away = await zonesAway(ports, state);
  const degradations = [...(ports.degradations?.() ?? []), ...shiftDegradation(away)];
  const { limitGroups } = settings;
  const pools = state.objects.nodePools.map((pool) => {
    const invalid = pool.invalid ?? unknownGroup(pool, limitGroups) ?? pauseFault(pool);
    const surroundings = { failed: failed.get(pool.name), degradations };
    return withPoolConditions(state, { ...pool, invalid }, nowMs, surroundings);
  });
  const resolution = await resolveTypes(ports, settings, state, wantsOf(state, nowMs));
  const { instanceTypes, overlays } = resolution;
  await untilKarpenterIsActive(async () => {
    failures.push(...(await writePoolStatuses(ports, state, pools)));
    failures.push(...(await writeOverlayStatuses(ports, state, overlays)));
  });
  const buffers = settings.capacityBuffer ? bufferPods(state) : [];
  const backoffs = await readLaunchBackoffs(ports, state);
  const staying = withoutEnding(state.objects.pods, nowMs);
  const present = [...withoutBackedOff(staying, backoffs), ...buffers];
  const pods = withoutSuperseded(present, state.objects.nodeClaims);
  const typesOf = typesByClaim(resolution);
  const { region } = ports.catalog;
  const snapshot = {
    ...state.objects,
    nodes: withAwaitedLabels(state),
    nodePools: withoutHalted(pools, haltedPools(failed, nowMs)),
    nodeClaims: state.objects.nodeClaims.map((claim) =>
      withPlannedLabels(claim, typesOf(claim), region),
    ),
    instanceTypes,
    pods,
  };
  return {
    present,
    virtual: new Set(pods.filter(isBufferPod).map(podKey)),
    readyAtMs: ports.clock.nowMs(),
    startedAtMs,
    ports,
    state,
    karpenter,
    failures,
    backoffs,
    pools,
    shared,
    snapshot: withGroupCaps(snapshot, shared.withOthers(capsAt(limitGroups, pools, nowMs))),
    typesOf,
  };
}
