import { imageFinder } from '../core/launch/launch-request.ts';
import { isTrue } from '../core/lifecycle/conditions.ts';
import type { InstanceType } from '../core/model/instance-type.ts';
import { MIN_VALUES_RELAXED, NODE_POOL } from '../core/model/labels.ts';
import type { OfferingChoice, Plan } from '../core/model/plan.ts';
import { isBufferPod, podKey } from '../core/model/pod.ts';
import type { NodeClaim, NodePool } from '../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../core/model/snapshot.ts';
import { type OverlayReport, resolveOverlays } from '../core/overlay/resolve.ts';
import { replan } from '../core/scheduling/replan.ts';
import type { ClusterState, Ports } from '../ports.ts';
import { attempt, type Failure } from './attempt.ts';
import { bufferPods, writeBufferStatuses } from './capacity-buffers.ts';
import { relyOnExisting, sayNominated, waitingUids } from './existing-nodes.ts';
import { type PartClaim, type PartPlan, planRollouts } from './expected-pods.ts';
import { LAUNCH_MS, type LaunchReport, launchClaims } from './launch.ts';
import { haltedPools } from './launch-brakes.ts';
import { recordNothing } from './launch-records.ts';
import { measuresOf } from './measures.ts';
import { plannedClaim, withPlannedLabels } from './new-claims.ts';
import { nodeClassOf, readOffers } from './offers.ts';
import { type AppSettings, isPaused } from './settings.ts';
import { Shadow } from './shadow.ts';
import { keepStaticCapacity } from './static-capacity.ts';
import { withPoolConditions, writeOverlayStatuses, writePoolStatuses } from './statuses.ts';
import { recordUnplaced } from './unplaced.ts';

export interface ProvisionReport {
  readonly created: readonly string[];
  readonly launched: readonly string[];
  /** Pods that no plan could place, with the reason. */
  readonly unplaced: ReadonlyMap<string, string>;
  /** Steps that were refused; the others went on. */
  readonly failures: readonly Failure[];
  /** Launches, or another plan, were left to the next pass for want of time. */
  readonly isUnfinished: boolean;
}

/** Plans in one pass: each more answers a shortage that the one before ran into. */
const ROUNDS_MAX = 8;

/** Everything one round decides on. */
interface Outlook {
  readonly state: ClusterState;
  readonly shadow: Shadow;
  readonly failures: Failure[];
  readonly remainingMs: () => number;
  readonly pools: readonly NodePool[];
  readonly snapshot: ClusterSnapshot;
  readonly typesOf: (claim: NodeClaim) => readonly InstanceType[];
  /** Pods of CapacityBuffers, which exist in the snapshot only. */
  readonly virtual: ReadonlySet<string>;
  /** When everything was read, and nothing decided yet. */
  readonly readyAtMs: number;
}

/** What each pool can launch after overlays, and what the resolver says of each overlay. */
export interface Resolution {
  readonly instanceTypes: ReadonlyMap<string, readonly InstanceType[]>;
  readonly overlays: readonly OverlayReport[];
  /** Before overlays, for claims without a pool. */
  readonly byNodeClass: ReadonlyMap<string, readonly InstanceType[]>;
}

/** Overlays are a pure function of each snapshot: nothing is cached between passes. */
export async function resolveTypes(
  ports: Ports,
  settings: AppSettings,
  state: ClusterState,
): Promise<Resolution> {
  const { byNodeClass } = await readOffers(ports, state);
  const { nodePools, nodeOverlays } = state.objects;
  const listed = nodePools.flatMap((pool) => {
    const nodeClass = nodeClassOf(state, pool.template.nodeClassRef);
    const types = nodeClass && byNodeClass.get(nodeClass.name);
    if (nodeClass === undefined || types === undefined) return [];
    // What no image is meant for cannot be launched: a plan with it would be given up each time.
    const imageOf = imageFinder(nodeClass.status.images);
    return [[pool.name, types.filter((type) => imageOf(type) !== undefined)] as const];
  });
  const overlays = settings.scheduling.nodeOverlay ? nodeOverlays : [];
  const resolved = resolveOverlays(nodePools, new Map(listed), overlays);
  return { ...resolved, byNodeClass };
}

/**
 * A node has most of its labels only once it is registered. Until then its claim says what it will
 * be: else the pods that wait for it would seem to need another node.
 */
function withAwaitedLabels({ objects }: ClusterState): ClusterState['objects']['nodes'] {
  const claims = new Map(
    objects.nodeClaims
      .filter((claim) => claim.providerId !== undefined && !isTrue(claim, 'Registered'))
      .map((claim) => [claim.providerId, claim]),
  );
  return objects.nodes.map((node) => {
    const claim = claims.get(node.providerId);
    return claim === undefined ? node : { ...node, labels: { ...claim.labels, ...node.labels } };
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
    const message = 'its last launches did not join the cluster';
    const conditions = [...others, { ...notReady, message, lastTransitionAtMs: 0 }];
    return { ...pool, conditions };
  });
}

async function observe(
  ports: Ports,
  settings: AppSettings,
  { failures, remainingMs }: Pick<Outlook, 'failures' | 'remainingMs'>,
): Promise<Outlook> {
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.read();
  const nowMs = ports.clock.nowMs();
  const shadow = new Shadow(ports, state, startedAtMs);
  const failed = await ports.memory.failedRegistrations();
  const degradations = ports.degradations?.() ?? [];
  const pools = state.objects.nodePools.map((pool) =>
    withPoolConditions(state, pool, nowMs, { failed: failed.get(pool.name), degradations }),
  );
  const { instanceTypes, overlays, byNodeClass } = await resolveTypes(ports, settings, state);
  if (!(await shadow.isCast())) {
    failures.push(...(await writePoolStatuses(ports, state, pools)));
    failures.push(...(await writeOverlayStatuses(ports, state, overlays)));
  }
  const buffers = settings.capacityBuffer ? state.capacityBuffers.flatMap(bufferPods) : [];
  const pods = [...state.objects.pods, ...buffers];
  const typesOf = (claim: NodeClaim): readonly InstanceType[] =>
    instanceTypes.get(claim.labels[NODE_POOL] ?? '') ??
    byNodeClass.get(claim.nodeClassRef.name) ??
    [];
  const { region } = ports.catalog;
  return {
    virtual: new Set(pods.filter(isBufferPod).map(podKey)),
    readyAtMs: ports.clock.nowMs(),
    state,
    shadow,
    failures,
    remainingMs,
    pools,
    snapshot: {
      ...state.objects,
      nodes: withAwaitedLabels(state),
      nodePools: withoutHalted(pools, haltedPools(failed, nowMs)),
      nodeClaims: state.objects.nodeClaims.map((claim) =>
        withPlannedLabels(claim, typesOf(claim), region),
      ),
      instanceTypes,
      pods,
    },
    typesOf,
  };
}

function offeringText(choice: OfferingChoice): string {
  const { type, zone, capacityType, price, listPrice } = choice;
  const list = price === listPrice ? '' : `, list $${listPrice.toFixed(4)}`;
  return `${type} ${capacityType} in ${zone} at $${price.toFixed(4)}/h${list}`;
}

/** `3 pods`; those that stand for a CapacityBuffer, and those to come, are counted apart. */
function podsText({ pods, expectedPods }: PartClaim, virtual: ReadonlySet<string>): string {
  const buffered = pods.filter((pod) => virtual.has(pod)).length;
  const counted = (count: number, noun: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];
  return [
    ...counted(pods.length - buffered, 'pod'),
    ...counted(buffered, 'buffer pod'),
    ...counted(expectedPods, 'expected pod'),
  ].join(' and ');
}

async function recordClaim(
  ports: Ports,
  { virtual }: Outlook,
  planned: PartClaim,
  name: string,
): Promise<void> {
  const { runnerUp, chosen, overlays, pods, expectedPods, instanceTypes, requests } = planned;
  const against =
    runnerUp === undefined
      ? 'nothing else would do'
      : `next best ${offeringText(runnerUp)}: ${runnerUp.why}`;
  const applied = overlays.length === 0 ? '' : `; overlays ${overlays.join(', ')}`;
  await ports.recorder.decision({
    id: `provision-${name}`,
    atMs: ports.clock.nowMs(),
    useCase: 'provision',
    object: `NodeClaim/${name}`,
    action: 'create',
    message: `${offeringText(chosen)} for ${podsText(planned, virtual)}${applied}; ${against}`,
    detail: {
      nodePool: planned.nodePool,
      chosen,
      runnerUp: runnerUp ?? null,
      overlays,
      pods,
      expectedPods,
      requests,
      instanceTypes: instanceTypes.slice(0, 20),
      instanceTypeCount: instanceTypes.length,
    },
  });
}

async function createClaim(
  ports: Ports,
  outlook: Outlook,
  planned: PartClaim,
  pool: NodePool,
  podUids: readonly string[],
): Promise<NodeClaim> {
  const types = outlook.snapshot.instanceTypes.get(pool.name) ?? [];
  const name = `${pool.name}-${ports.ids.suffix()}`;
  const wanted = plannedClaim(planned, pool, types, name, podUids);
  const made = await ports.cluster.createNodeClaim(wanted);
  ports.recorder.count('nodeclaims_created_total', {
    reason: 'provisioned',
    nodepool: pool.name,
    min_values_relaxed: planned.annotations[MIN_VALUES_RELAXED] ?? 'false',
  });
  await recordClaim(ports, outlook, planned, name);
  return made.claim;
}

async function createClaims(ports: Ports, outlook: Outlook, plan: PartPlan): Promise<NodeClaim[]> {
  const { pools, shadow, failures, virtual } = outlook;
  const created: NodeClaim[] = [];
  const waiting = waitingUids(outlook);
  for (const planned of plan.newNodeClaims) {
    const pool = pools.find((each) => each.name === planned.nodePool);
    if (pool === undefined) continue;
    if (await shadow.isCast()) break;
    const create = async (): Promise<void> => {
      const uids = planned.pods.flatMap((pod) => waiting.get(pod) ?? []);
      const claim = await createClaim(ports, outlook, planned, pool, uids);
      created.push(claim);
      for (const pod of planned.pods) {
        if (!virtual.has(pod)) await sayNominated(ports, pod, `nodeclaim/${claim.name}`);
      }
    };
    failures.push(...(await attempt(`NodePool/${pool.name}`, create)));
  }
  return created;
}

async function reportUnplaced(ports: Ports, outlook: Outlook, plan: Plan): Promise<void> {
  await recordUnplaced(ports, outlook.virtual, plan);
  for (const [pod, { message }] of [...plan.unplaced].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (outlook.virtual.has(pod)) continue;
    const [namespace = '', name = ''] = pod.split('/');
    await ports.cluster.event({
      regarding: { kind: 'Pod', namespace, name },
      type: 'Warning',
      reason: 'FailedScheduling',
      message: `Failed to schedule pod, ${message}`,
    });
  }
}

/** The claims that the plan counted on, and those just written: nothing is read again for it. */
async function launchPlanned(
  ports: Ports,
  settings: AppSettings,
  { state, shadow, typesOf, failures, remainingMs }: Outlook,
  created: readonly NodeClaim[],
): Promise<LaunchReport> {
  const names = new Set(created.map(({ name }) => name));
  const others = state.objects.nodeClaims.filter(({ name }) => !names.has(name));
  const objects = { ...state.objects, nodeClaims: [...others, ...created] };
  const launching = { ports, settings, shadow, failures, remainingMs };
  return await launchClaims(launching, { ...state, objects }, typesOf);
}

/** Static claims have been written and deleted since the cluster was read: it is read again. */
async function launchAll(
  ports: Ports,
  settings: AppSettings,
  { typesOf, failures, remainingMs }: Outlook,
): Promise<LaunchReport> {
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.read();
  const shadow = new Shadow(ports, state, startedAtMs);
  const launching = { ports, settings, shadow, failures, remainingMs };
  return await launchClaims(launching, state, typesOf);
}

/** `startedAtMs` is when the round began to look. */
function measure(ports: Ports, outlook: Outlook, plan: Plan, startedAtMs: number): void {
  const nowMs = ports.clock.nowMs();
  const seconds = {
    observe_duration_seconds: (outlook.readyAtMs - startedAtMs) / 1000,
    scheduler_scheduling_duration_seconds: (nowMs - outlook.readyAtMs) / 1000,
  };
  const levels = { ...measuresOf({ ...outlook, plan, nowMs }), ...seconds };
  for (const [name, value] of Object.entries(levels)) ports.recorder.measure?.(name, value);
}

/** What holds launches back now, with the reason and a sentence. */
async function brakeOf(
  ports: Ports,
  { state, shadow }: Outlook,
): Promise<readonly [string, string] | undefined> {
  if (await shadow.isCast()) return ['karpenter-runs', 'Karpenter runs here: nothing is written'];
  if (!isPaused(state.pausedUntilMs.launch, ports.clock.nowMs())) return undefined;
  return ['launches-paused', 'launches are paused by the brake in kube-system/joiner'];
}

/** Held launches are what nobody may overlook: what waits is measured as in every other round. */
async function isHeldBack(
  ports: Ports,
  settings: AppSettings,
  outlook: Outlook,
  startedAtMs: number,
): Promise<boolean> {
  const brake = await brakeOf(ports, outlook);
  ports.recorder.measure?.('held_back', brake === undefined ? 0 : 1);
  if (brake === undefined) return false;
  measure(ports, outlook, replan(outlook.snapshot, settings.scheduling), startedAtMs);
  const [reason, message] = brake;
  await recordNothing({ ports }, reason, 'NodeClaims', message);
  return true;
}

/**
 * One pass: overlays → plan → NodeClaims, and a launch for every claim that has no instance. A
 * shortage met while launching leads to another plan in the same pass, while there is time.
 */
export async function provision(
  ports: Ports,
  settings: AppSettings,
  remainingMs: () => number = () => Number.POSITIVE_INFINITY,
): Promise<ProvisionReport> {
  const created: string[] = [];
  const launched: string[] = [];
  const failures: Failure[] = [];
  let unplaced: ReadonlyMap<string, string> = new Map();
  let isUnfinished = false;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const startedAtMs = ports.clock.nowMs();
    const outlook = await observe(ports, settings, { failures, remainingMs });
    if (await isHeldBack(ports, settings, outlook, startedAtMs)) break;
    const { state, shadow } = outlook;
    // Static nodes come first: the plan then finds them on their way and counts on them.
    const isStatic = settings.staticCapacity && round === 0;
    if (isStatic && (await keepStaticCapacity(ports, outlook)) > 0) {
      const report = await launchAll(ports, settings, outlook);
      launched.push(...report.launched);
      isUnfinished = remainingMs() < LAUNCH_MS;
      if (isUnfinished) break;
      continue;
    }
    const plan = await planRollouts(ports, outlook.snapshot, settings.scheduling, failures);
    measure(ports, outlook, plan, startedAtMs);
    const decidedAtMs = ports.clock.nowMs();
    unplaced = new Map([...plan.unplaced].map(([pod, { message }]) => [pod, message]));
    const claims = await createClaims(ports, outlook, plan);
    created.push(...claims.map(({ name }) => name));
    if (await shadow.isCast()) break;
    failures.push(...(await relyOnExisting(ports, outlook, plan)));
    await reportUnplaced(ports, outlook, plan);
    failures.push(...(await writeBufferStatuses(ports, state.capacityBuffers, plan)));
    const report = await launchPlanned(ports, settings, outlook, claims);
    launched.push(...report.launched);
    const actedMs = ports.clock.nowMs() - decidedAtMs;
    ports.recorder.measure?.('act_duration_seconds', actedMs / 1000);
    const isDone = report.givenUp.length === 0 && report.postponed === 0;
    isUnfinished = !isDone && remainingMs() < LAUNCH_MS;
    if (isDone || isUnfinished) break;
  }
  return { created, launched, unplaced, failures, isUnfinished };
}
