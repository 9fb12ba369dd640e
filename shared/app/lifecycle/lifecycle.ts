import { isOfFailedImage } from '../../core/disruption/proven-images.ts';
import { reason } from '../../core/explain/reason.ts';
import { isOurs, nodeClassOf } from '../../core/launch/node-classes.ts';
import {
  type ClaimDecision,
  type ClaimSurroundings,
  instanceIdOf,
  type SeenTaint,
  TERMINATION_FINALIZER,
} from '../../core/lifecycle/actions.ts';
import {
  decideClaim,
  isJoining,
  reasonUnregistered,
  unregisteredClaim,
} from '../../core/lifecycle/claim.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { blockingAttachments } from '../../core/lifecycle/drain.ts';
import { endingBlockOf } from '../../core/lifecycle/ending-blocks.ts';
import { inEvictionOrder } from '../../core/lifecycle/eviction-order.ts';
import { expiryHold } from '../../core/lifecycle/expiry.ts';
import { nodesWithoutClaim, orphanedInstances } from '../../core/lifecycle/garbage.ts';
import { isNodeRemoved } from '../../core/lifecycle/removed-node.ts';
import type { RepairCause } from '../../core/lifecycle/repair.ts';
import type { Node } from '../../core/model/cluster.ts';
import { nodesOfClaim } from '../../core/model/joins.ts';
import { INTERRUPTED } from '../../core/model/labels.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { awaitedNodes } from '../../core/nomination/registration-order.ts';
import type { ClusterState, Instance, PauseScope, Ports } from '../../ports.ts';
import { type AppSettings, isKarpenterActive, isPaused } from '../settings.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { recordDecision } from '../writes/decisions.ts';
import { KarpenterLease, untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { nodeRef } from '../writes/references.ts';
import { type Pass, takeSteps } from './claim-steps.ts';
import { readHealth } from './health.ts';
import { listInstances } from './instances.ts';
import { beginUrgentDrains } from './interrupted-drains.ts';
import { LifecycleMemory } from './memory.ts';
import {
  awaitingPods,
  isAwaited,
  NO_NOMINATIONS,
  type Nominations,
  readNominations,
} from './nomination/nominations.ts';
import { type Registering, registerNodes, rest } from './nomination/register-nodes.ts';
import { isLeaving, type LifecycleReport, reportOf, type View } from './report.ts';
import { recordStays } from './stays.ts';

/** Nodes that could open are not kept closed for longer, however long kube-scheduler tries pods. */
const REST_MS_MAX = 750;

function surroundings(pass: Pass, index: Index, claim: NodeClaim): ClaimSurroundings {
  const nodes = nodesOfClaim(pass.state.objects.nodes, claim);
  const pods = nodes.flatMap((node) => index.pods.get(node.name) ?? []);
  const { objects, volumeAttachments, pausedUntilMs } = pass.state;
  const nodeClass = nodeClassOf(pass.state, claim.nodeClassRef);
  const isHeld = (scope: PauseScope): boolean => isPaused(pausedUntilMs[scope], pass.nowMs);
  // Each looks through all attachments of the cluster: nodes that stay are not asked about.
  const leaving = claim.deletedAtMs === undefined ? [] : nodes;
  const isOpen = isTrue(claim, 'Registered');
  const isWithout = (pod: Pod) => !isOpen || !pass.memory.nominations.isNominated(pod);
  return {
    nowMs: pass.nowMs,
    nodes,
    pods,
    awaiting: awaitingPods(claim, index.nominations).filter(isWithout),
    nominated: nodes.flatMap((node) => index.nominations.nominated.get(node.name) ?? []),
    isAwaited: isAwaited(claim, index.nominations),
    instance: instanceOf(claim, index),
    stateReason: index.instances?.get(instanceIdOf(claim.providerId) ?? '')?.stateReason,
    isUnreserved: isUnreserved(claim, index),
    isOfFailedImage:
      nodeClass !== undefined &&
      isJoining(claim, pass.nowMs) &&
      isOfFailedImage(claim, nodeClass, objects),
    isNamed: nodeClass?.tags['Name'] !== undefined,
    endingBlock: endingBlockOf(claim, nodeClass),
    blockingAttachments: leaving.flatMap((node) =>
      blockingAttachments(node, pods, volumeAttachments, objects, pass.nowMs),
    ),
    seenTaints: index.seenTaints,
    repairCause: index.unhealthy.get(claim.uid),
    isNodeRemoved: isNodeRemoved(claim, pass.state.objects.nodes, pass.nowMs),
    isExpiryHeld: isHeld('disrupt') || isHeld('launch') || index.holdsExpiry(claim),
  };
}

/** Where EC2 does not say, the instance is taken to be there: nothing is given up unseen. */
function instanceOf(claim: NodeClaim, { instances }: Index): ClaimSurroundings['instance'] {
  if (instances === undefined) return 'present';
  const instance = instances.get(instanceIdOf(claim.providerId) ?? '');
  if (instance === undefined || instance.state === 'terminated') return 'absent';
  return instance.state === 'shutting-down' ? 'shutting-down' : 'present';
}

function isUnreserved(claim: NodeClaim, { instances }: Index): boolean {
  const instance = instances?.get(instanceIdOf(claim.providerId) ?? '');
  return instance?.state === 'running' && instance.reservationId === undefined;
}

interface Index {
  readonly seenTaints: ReadonlyMap<string, SeenTaint>;
  readonly unhealthy: ReadonlyMap<string, RepairCause>;
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly nominations: Nominations;
  readonly holdsExpiry: ReturnType<typeof expiryHold>;
  /** Undefined: EC2 did not say. */
  readonly instances: ReadonlyMap<string, Instance> | undefined;
}

function indexOf(
  { settings, state, nowMs, memory }: Pick<Pass, 'settings' | 'state' | 'nowMs' | 'memory'>,
  { instances, unhealthy }: Health,
): Index {
  const { nodes, pods, nodePools } = state.objects;
  return {
    holdsExpiry: expiryHold(nodePools, nowMs),
    seenTaints: memory.noteTaints(nodes, nowMs),
    unhealthy,
    pods: Map.groupBy(pods, (pod) => pod.nodeName ?? ''),
    nominations: settings.podNomination ? readNominations(state, nowMs) : NO_NOMINATIONS,
    instances,
  };
}

/** Terminates instances without a NodeClaim, under the same pause and maximum as NodeClaims. */
async function collectOrphans(pass: Pass, instances: readonly Instance[]): Promise<void> {
  const { state, nowMs } = pass;
  const { nodeClaims, nodes } = state.objects;
  if (isPaused(state.pausedUntilMs.terminate, nowMs)) return;
  const orphans = orphanedInstances(instances, nodeClaims, nowMs).slice(0, pass.terminationsLeft);
  if (orphans.length === 0) return;
  pass.acted = true;
  pass.changed = true;
  await atOnce(WRITES_AT_ONCE, orphans, async ({ id }) => {
    const step = () => endOrphan(pass, id, nodes);
    pass.failures.push(...(await attempt(`Instance/${id}`, step)));
  });
}

async function endOrphan(
  { ports, memory, nowMs }: Pass,
  id: string,
  nodes: readonly Node[],
): Promise<void> {
  await ports.compute.terminate([id]);
  memory.addTermination(nowMs);
  const decision = {
    id: `terminate-${id}`,
    atMs: nowMs,
    useCase: 'lifecycle',
    object: `Instance/${id}`,
    action: 'terminate',
    reasons: [reason('instance-orphaned', { instance: id })],
    detail: { reason: 'orphan' },
  } as const;
  await recordDecision({ ports }, decision);
  const node = nodes.find((each) => instanceIdOf(each.providerId) === id);
  if (node !== undefined) await ports.cluster.delete(nodeRef(node));
}

async function releaseNodesWithoutClaim(pass: Pass): Promise<void> {
  const { nodes, nodeClaims } = pass.state.objects;
  for (const node of nodesWithoutClaim(nodes, nodeClaims)) {
    const patch = { removeFinalizer: TERMINATION_FINALIZER };
    await pass.ports.cluster.patchNode(nodeRef(node), patch);
  }
}

/** Of the last minute: claims, and orphans on their way out, whose time is not known. */
function recentTerminations(
  { objects: { nodeClaims } }: ClusterState,
  instances: readonly Instance[],
  nowMs: number,
): number {
  const claims = nodeClaims.filter(
    (claim) =>
      claim.annotations[INTERRUPTED] === undefined &&
      claim.conditions.some(
        (each) =>
          each.type === 'InstanceTerminating' &&
          each.status === 'True' &&
          nowMs - each.lastTransitionAtMs < 60_000,
      ),
  );
  const owned = new Set(nodeClaims.map((claim) => instanceIdOf(claim.providerId)));
  const orphans = instances.filter((each) => each.state === 'shutting-down' && !owned.has(each.id));
  return claims.length + orphans.length;
}

function decisionsOf(
  pass: Pass,
  claims: readonly NodeClaim[],
  index: Index,
): readonly ClaimDecision[] {
  const found = eachAlone(pass, claims, (claim) => {
    const around = surroundings(pass, index, claim);
    return { claim, around, closed: unregisteredClaim(claim, around) };
  });
  const awaited = awaitedNodes(found.flatMap(({ closed }) => closed ?? []));
  return eachAlone(pass, found, ({ claim, around: rest }): ClaimDecision => {
    const around = { ...rest, awaitedNode: awaited.get(claim) };
    if (reasonUnregistered(claim, around) !== undefined) pass.isRegistering = true;
    return decideClaim(claim, around);
  });
}

/** A NodeClaim that nothing can be decided about keeps the others from nothing. */
function eachAlone<Item, Result>(
  { defects }: Pass,
  items: readonly Item[],
  decide: (item: Item) => Result,
): readonly Result[] {
  return items.flatMap((item) => {
    try {
      return [decide(item)];
    } catch (error) {
      defects.push(error);
      return [];
    }
  });
}

/** What EC2 and the nodes say of claims, asked once in a pass. */
type Health = Pick<Index, 'instances' | 'unhealthy'>;

function look(pass: Pass, health: Health): View {
  const index = indexOf(pass, health);
  const { nominations } = index;
  const claims = pass.state.objects.nodeClaims
    .filter(({ nodeClassRef }) => isOurs(nodeClassRef))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  pass.memory.nominations.keepOnly((name) => nominations.staying.has(name), pass.nowMs);
  const { pods } = pass.state.objects;
  const isRefused = (pod: Pod): boolean => pass.memory.blocked.isRefused(pod);
  const all = decisionsOf(pass, claims, index);
  const decisions = inEvictionOrder(all, pods, isRefused, pass.nowMs);
  return { pass, claims, nominations, decisions };
}

function openingsOf(decisions: readonly ClaimDecision[]): readonly Registering[] {
  return decisions.flatMap(({ claim, actions }) =>
    actions.filter((each) => each.kind === 'register').map((action) => ({ claim, action })),
  );
}

/**
 * The cluster when kube-scheduler rests. Nodes that join until then open with the others: it would
 * put pods of those that are closed where others belong. Claims that EC2 was not asked about are
 * left to the next pass.
 */
async function atRest(first: View, health: Health): Promise<View> {
  const { pass, claims } = first;
  const { ports } = pass;
  await rest(pass, REST_MS_MAX);
  const opening = new Set(openingsOf(first.decisions).map(({ claim }) => claim));
  const mayJoin = (claim: NodeClaim): boolean =>
    isJoining(claim, pass.nowMs) && !isTrue(claim, 'Registered') && !opening.has(claim);
  if (!claims.some(mayJoin)) return first;
  const state = await ports.cluster.read();
  const nowMs = ports.clock.nowMs();
  const asked = new Map(claims.map(({ uid, providerId }) => [uid, providerId]));
  const view = look({ ...pass, state, nowMs, isRegistering: false }, health);
  const wasAsked = ({ claim: { uid, providerId } }: ClaimDecision): boolean =>
    asked.has(uid) && asked.get(uid) === providerId;
  return { ...view, decisions: view.decisions.filter(wasAsked) };
}

/** Drains come first, for EC2 does not wait. Returns what was seen last. */
async function carryAllOut(first: View, health: Health): Promise<View> {
  await takeSteps(
    first.pass,
    first.decisions.filter(({ claim }) => isLeaving(claim)),
  );
  const isWaiting = first.pass.settings.podNomination && openingsOf(first.decisions).length > 0;
  const view = isWaiting ? await atRest(first, health) : first;
  await openAndGoOn(view);
  return view;
}

/** Nodes open together; then the rest, but for drains. */
async function openAndGoOn({ pass, decisions }: View): Promise<void> {
  const openings = openingsOf(decisions);
  const opened = await registerNodes(pass, openings);
  if (openings.length > 0) pass.changed = true;
  const closed = new Set(openings.map(({ claim }) => claim).filter((each) => !opened.has(each)));
  const others = decisions.filter(({ claim }) => !isLeaving(claim) && !closed.has(claim));
  await takeSteps(pass, [
    ...others.filter(({ claim }) => opened.has(claim)),
    ...others.filter(({ claim }) => !opened.has(claim)),
  ]);
  if (closed.size > 0) pass.isRegistering = true;
}

/** One round over all claims: register, initialise, drain, terminate, time out, collect garbage. */
export async function lifecycle(
  unguarded: Ports,
  settings: AppSettings,
  memory = new LifecycleMemory(),
): Promise<LifecycleReport> {
  const begun = await beginUrgentDrains(unguarded);
  const startedAtMs = unguarded.clock.nowMs();
  const state = await unguarded.cluster.read();
  const nowMs = unguarded.clock.nowMs();
  const nothing = {
    isUnsettled: false,
    isExpecting: false,
    isQuiet: true,
    isEnding: false,
    dueAtMs: undefined,
    unsettled: [],
    draining: [],
    evictions: 0,
    terminated: [],
  };
  if (isKarpenterActive(state.karpenterRenewedAtMs, nowMs)) return { ...nothing, failures: [] };
  const ports = new KarpenterLease(unguarded, state, startedAtMs).guarded(unguarded);
  const failures: Failure[] = [...begun.failures];
  const instances = await listInstances(ports, { state, nowMs, memory }, failures);
  // Claims that are gone do not show any more; other processes' terminations are not remembered.
  const recent = Math.max(
    recentTerminations(state, instances ?? [], nowMs),
    memory.terminations(nowMs),
  );
  const terminationsLeft = Math.max(0, settings.terminationsPerMinuteMax - recent);
  const terminated: string[] = [];
  const base = { ports, settings, state, nowMs, memory, terminationsLeft, terminated };
  const isChanged = begun.evictions > 0;
  const none = {
    evictions: begun.evictions,
    acted: false,
    changed: isChanged,
    isRegistering: false,
  };
  memory.blocked.begin(state.objects.pods);
  const pass: Pass = { ...base, ...none, failures, defects: [] };
  const view = await takeAllSteps(pass, instances);
  await recordStays(view);
  // Last, so that all others were served: a defect fails the invocation, which alarms tell of.
  if (pass.defects.length > 0) throw pass.defects[0];
  return reportOf(view);
}

/** Everything that a pass does; returns what was seen last. */
async function takeAllSteps(pass: Pass, instances: readonly Instance[] | undefined): Promise<View> {
  const { failures, memory } = pass;
  const byId = instances && new Map(instances.map((each) => [each.id, each]));
  const unhealthy = await untilKarpenterIsActive(() => readHealth(pass, failures));
  const health = { instances: byId, unhealthy: unhealthy ?? new Map() };
  failures.push(...memory.nominations.takeFailures());
  let view = look(pass, health);
  await untilKarpenterIsActive(async () => {
    view = await carryAllOut(view, health);
    const collect = () => collectOrphans(view.pass, instances ?? []);
    failures.push(...(await attempt('instances without a NodeClaim', collect)));
    const release = () => releaseNodesWithoutClaim(view.pass);
    failures.push(...(await attempt('nodes without a NodeClaim', release)));
  });
  memory.nominations.passed();
  return view;
}
