import {
  type ClaimDecision,
  type ClaimSurroundings,
  instanceIdOf,
  type LifecycleAction,
  TERMINATION_FINALIZER,
} from '../core/lifecycle/actions.ts';
import { closedClaim, decideClaim, isJoining, reasonClosed } from '../core/lifecycle/claim.ts';
import { isTrue } from '../core/lifecycle/conditions.ts';
import { blockingAttachments } from '../core/lifecycle/drain.ts';
import { forsakenNodes, orphanedInstances } from '../core/lifecycle/garbage.ts';
import { awaitedNodes } from '../core/lifecycle/opening-order.ts';
import type { Illness } from '../core/lifecycle/repair.ts';
import type { Node } from '../core/model/cluster.ts';
import { CAPACITY_TYPE, INITIALIZED, INTERRUPTED, NODE_POOL, ZONE } from '../core/model/labels.ts';
import type { Pod } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { ClusterState, Instance, Ports } from '../ports.ts';
import { atOnce } from './at-once.ts';
import { attempt, type Failure } from './attempt.ts';
import { evictPods, taintNode } from './drains.ts';
import { beginUrgentDrains } from './first-drains.ts';
import { deleteClaim, type HealthPass, readHealth } from './health.ts';
import { recordNothing } from './launch-records.ts';
import { learnFrom } from './learnt-memory.ts';
import { LifecycleMemory } from './lifecycle-memory.ts';
import {
  awaitingPods,
  isAtRisk,
  isAwaited,
  type Nominations,
  nominatePods,
  readNominations,
} from './nominations.ts';
import { isOurs, nodeClassOf } from './offers.ts';
import { openNodes } from './opening.ts';
import { claimRef, nodeRef, podRef } from './references.ts';
import { type ClaimPass, carryOut, confirm, setConditions } from './registration.ts';
import { type AppSettings, isPaused, isShadowed } from './settings.ts';
import { Shadow } from './shadow.ts';

/** A pass is not to take longer than EC2 leaves a node that it has warned of. */
const CLAIMS_AT_ONCE = 10;

export interface LifecycleReport {
  /** Something was written, or a drain or a node that is about to be ready: look again soon. */
  readonly isUnsettled: boolean;
  /** A node that was launched is about to join, of which nobody may tell. */
  readonly isExpecting: boolean;
  readonly evictions: number;
  readonly terminated: readonly string[];
  /** Steps that were refused; the others went on. */
  readonly failures: readonly Failure[];
}

interface Pass extends HealthPass, ClaimPass {
  readonly state: ClusterState;
  /** Terminations left in this minute; interrupted claims are not counted against it. */
  terminationsLeft: number;
  evictions: number;
  readonly terminated: string[];
  /** A node has joined and opens as soon as it is ready. */
  isOpening: boolean;
}

function surroundings(pass: Pass, index: Index, claim: NodeClaim): ClaimSurroundings {
  const nodes = claim.providerId === undefined ? [] : (index.nodes.get(claim.providerId) ?? []);
  const pods = nodes.flatMap((node) => index.pods.get(node.name) ?? []);
  const { objects, volumeAttachments } = pass.state;
  return {
    nowMs: pass.nowMs,
    nodes,
    pods,
    awaiting: awaitingPods(claim, index.nominations),
    nominated: nodes.flatMap((node) => index.nominations.nominated.get(node.name) ?? []),
    isAwaited: isAwaited(claim, index.nominations),
    instance: instanceOf(claim, index),
    blockingAttachments: nodes.flatMap((node) =>
      blockingAttachments(node, pods, volumeAttachments, objects, pass.nowMs),
    ),
    illness: index.ill.get(claim.uid),
  };
}

/** Where EC2 does not say, the instance is taken to be there: nothing is given up unseen. */
function instanceOf(claim: NodeClaim, { instances }: Index): ClaimSurroundings['instance'] {
  if (instances === undefined) return 'present';
  const instance = instances.get(instanceIdOf(claim.providerId) ?? '');
  if (instance === undefined) return 'absent';
  return instance.state === 'shutting-down' ? 'shutting-down' : 'present';
}

interface Index {
  readonly ill: ReadonlyMap<string, Illness>;
  readonly nodes: ReadonlyMap<string, readonly Node[]>;
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly nominations: Nominations;
  /** Undefined: EC2 did not say. */
  readonly instances: ReadonlyMap<string, Instance> | undefined;
}

function indexOf(
  { state, nowMs }: Pick<Pass, 'state' | 'nowMs'>,
  instances: readonly Instance[] | undefined,
  ill: ReadonlyMap<string, Illness>,
): Index {
  const { nodes, pods } = state.objects;
  return {
    ill,
    nodes: Map.groupBy(nodes, (node) => node.providerId ?? ''),
    pods: Map.groupBy(pods, (pod) => pod.nodeName ?? ''),
    nominations: readNominations(state, nowMs),
    instances: instances && new Map(instances.map((each) => [each.id, each])),
  };
}

/** EC2 takes an interrupted claim's instance anyway; one that was ended counts only once. */
function isCounted(claim: NodeClaim): boolean {
  return claim.annotations[INTERRUPTED] === undefined && !isTrue(claim, 'InstanceTerminating');
}

async function recordTermination(
  { ports, nowMs }: Pass,
  claim: NodeClaim,
  instanceId: string,
): Promise<void> {
  const { [NODE_POOL]: nodePool = '', [CAPACITY_TYPE]: capacityType = '' } = claim.labels;
  await ports.recorder.decision({
    id: `terminate-${claim.name}`,
    atMs: nowMs,
    useCase: 'lifecycle',
    object: `NodeClaim/${claim.name}`,
    action: 'terminate',
    message: `${instanceId}: its NodeClaim is leaving and its node is drained`,
    detail: { nodePool, chosen: { capacityType } },
  });
}

async function terminate(pass: Pass, claim: NodeClaim, instanceId: string): Promise<boolean> {
  const { ports, state, nowMs } = pass;
  if (isPaused(state.pausedUntilMs.terminate, nowMs)) {
    const text = 'terminations are paused by the brake in kube-system/joiner';
    await recordNothing(pass, 'terminations-paused', 'NodeClaims', text, 'lifecycle');
    return false;
  }
  const counted = isCounted(claim);
  if (counted && pass.terminationsLeft === 0) {
    const text = 'terminations wait for the cap a minute';
    await recordNothing(pass, 'terminations-capped', 'NodeClaims', text, 'lifecycle');
    return false;
  }
  // Taken before it is used: other claims are looked at meanwhile. A refused one counts, too.
  if (counted) {
    pass.terminationsLeft -= 1;
    pass.memory.addTermination(nowMs);
  }
  await ports.compute.terminate([instanceId]);
  if (!isTrue(claim, 'InstanceTerminating')) await recordTermination(pass, claim, instanceId);
  pass.terminated.push(claim.name);
  return true;
}

async function initialize(pass: Pass, claim: NodeClaim, node: Node): Promise<void> {
  await pass.ports.cluster.patchNode(nodeRef(node), { labels: { [INITIALIZED]: 'true' } });
  const nodeClass = nodeClassOf(pass.state, claim.nodeClassRef);
  if (nodeClass !== undefined) await learnFrom(pass.ports, nodeClass, claim, node);
}

async function finalizeClaim({ ports }: Pass, claim: NodeClaim): Promise<void> {
  await ports.cluster.patchNodeClaim(claimRef(claim), { removeFinalizer: TERMINATION_FINALIZER });
  ports.recorder.count('nodeclaims_terminated_total', {
    nodepool: claim.labels[NODE_POOL] ?? '',
    capacity_type: claim.labels[CAPACITY_TYPE] ?? '',
    zone: claim.labels[ZONE] ?? '',
  });
}

/** What is done for a claim by itself; nodes open together. */
type Step = Exclude<LifecycleAction, { kind: 'register' }>;

/** Carries one action out; false: the claim's later actions have to wait. */
async function act(pass: Pass, claim: NodeClaim, action: Step): Promise<boolean> {
  const { cluster, compute } = pass.ports;
  switch (action.kind) {
    case 'delete-claim':
      await deleteClaim(pass, claim, action);
      return true;
    case 'confirm':
      await confirm(pass, claim, action.node);
      return true;
    case 'nominate':
      pass.failures.push(...(await nominatePods(pass.ports, [action])));
      return true;
    case 'initialize':
      await initialize(pass, claim, action.node);
      return true;
    case 'conditions':
      await setConditions(pass, claim, action.set);
      return true;
    case 'annotate':
      await cluster.patchNodeClaim(claimRef(claim), { annotations: action.annotations });
      return true;
    case 'tag':
      await compute.tag(action.instanceId, action.tags);
      return true;
    case 'delete-node':
      await cluster.delete(nodeRef(action.node));
      return true;
    case 'taint-node':
      return (await taintNode(pass.ports, action)) === 'done';
    case 'evict': {
      const evictions = await evictPods(pass.ports, action.pods);
      pass.evictions += evictions;
      return true;
    }
    case 'remove-pod':
      await cluster.deletePod(podRef(action.pod), action.gracePeriodSeconds);
      return true;
    case 'terminate':
      return await terminate(pass, claim, action.instanceId);
    case 'finalize-node':
      await cluster.patchNode(nodeRef(action.node), { removeFinalizer: TERMINATION_FINALIZER });
      return true;
    case 'finalize-claim':
      await finalizeClaim(pass, claim);
      return true;
  }
}

/** Ends instances that nothing stands for, under the same brakes as claims. */
async function collectOrphans(pass: Pass, instances: readonly Instance[]): Promise<void> {
  const { ports, state, nowMs } = pass;
  const { nodeClaims, nodes } = state.objects;
  if (isPaused(state.pausedUntilMs.terminate, nowMs)) return;
  const orphans = orphanedInstances(instances, nodeClaims, nowMs).slice(0, pass.terminationsLeft);
  if (orphans.length === 0 || (await pass.shadow.isCast())) return;
  pass.acted = true;
  await ports.compute.terminate(orphans.map((each) => each.id));
  pass.terminationsLeft -= orphans.length;
  for (const _ of orphans) pass.memory.addTermination(nowMs);
  for (const { id } of orphans) {
    await ports.recorder.decision({
      id: `terminate-${id}`,
      atMs: nowMs,
      useCase: 'lifecycle',
      object: `Instance/${id}`,
      action: 'terminate',
      message: `${id}: no NodeClaim stands for it`,
      detail: { reason: 'orphan' },
    });
    const node = nodes.find((each) => instanceIdOf(each.providerId) === id);
    if (node !== undefined) await ports.cluster.delete(nodeRef(node));
  }
}

async function releaseForsaken(pass: Pass): Promise<void> {
  const { nodes, nodeClaims } = pass.state.objects;
  for (const node of forsakenNodes(nodes, nodeClaims)) {
    if (await pass.shadow.isCast()) return;
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
  const found = claims.map((claim) => ({ claim, around: surroundings(pass, index, claim) }));
  const closed = found.flatMap(({ claim, around }) => closedClaim(claim, around) ?? []);
  const awaited = awaitedNodes(closed);
  return found.map(({ claim, around: rest }): ClaimDecision => {
    const around = { ...rest, awaitedNode: awaited.get(claim) };
    if (reasonClosed(claim, around) !== undefined) pass.isOpening = true;
    return decideClaim(claim, around);
  });
}

/** Each claim's steps one after the other, and those of several claims at once. */
async function takeSteps(pass: Pass, decisions: readonly ClaimDecision[]): Promise<void> {
  await atOnce(CLAIMS_AT_ONCE, decisions, async ({ claim, actions }) => {
    for (const action of actions) {
      if (action.kind === 'register') continue;
      if (!(await carryOut(pass, claim, () => act(pass, claim, action)))) return;
    }
  });
}

/** Drains come first, for EC2 does not wait; nodes open together; then the rest. */
async function carryAllOut(pass: Pass, decisions: readonly ClaimDecision[]): Promise<void> {
  const isLeaving = ({ claim }: ClaimDecision) => claim.deletedAtMs !== undefined;
  await takeSteps(pass, decisions.filter(isLeaving));
  const openings = decisions.flatMap(({ claim, actions }) =>
    actions.filter((each) => each.kind === 'register').map((action) => ({ claim, action })),
  );
  const opened = await openNodes(pass, openings);
  const closed = new Set(openings.map(({ claim }) => claim).filter((each) => !opened.has(each)));
  const rest = decisions.filter((each) => !isLeaving(each) && !closed.has(each.claim));
  await takeSteps(pass, [
    ...rest.filter(({ claim }) => opened.has(claim)),
    ...rest.filter(({ claim }) => !opened.has(claim)),
  ]);
  if (closed.size > 0) pass.isOpening = true;
}

/** Nodes join and drain whether or not EC2 can be asked; undefined: it cannot. */
async function listInstances(
  { compute }: Ports,
  failures: Failure[],
): Promise<readonly Instance[] | undefined> {
  let instances: readonly Instance[] | undefined;
  const list = async (): Promise<void> => {
    instances = await compute.list();
  };
  failures.push(...(await attempt('instances', list)));
  return instances;
}

/** One round over all claims: register, initialise, drain, terminate, time out, collect garbage. */
export async function lifecycle(
  ports: Ports,
  settings: AppSettings,
  memory = new LifecycleMemory(),
): Promise<LifecycleReport> {
  const begun = await beginUrgentDrains(ports);
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.read();
  const nowMs = ports.clock.nowMs();
  const nothing = {
    isUnsettled: false,
    isExpecting: false,
    evictions: 0,
    terminated: [],
  };
  if (isShadowed(state.karpenterRenewedAtMs, nowMs)) return { ...nothing, failures: [] };
  const failures: Failure[] = [...begun.failures];
  const instances = await listInstances(ports, failures);
  // Claims that are gone do not show any more; other processes' terminations are not remembered.
  const recent = Math.max(
    recentTerminations(state, instances ?? [], nowMs),
    memory.terminations(nowMs),
  );
  const terminationsLeft = Math.max(0, settings.terminationsPerMinuteMax - recent);
  const terminated: string[] = [];
  const shadow = new Shadow(ports, state, startedAtMs);
  const base = { ports, settings, state, nowMs, shadow, memory, terminationsLeft, terminated };
  const none = { evictions: begun.evictions, acted: false, isOpening: false };
  const pass: Pass = { ...base, ...none, failures };
  const index = indexOf(pass, instances, await readHealth(pass, failures));
  const claims = state.objects.nodeClaims
    .filter(({ nodeClassRef }) => isOurs(nodeClassRef))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  memory.nominations.keepOnly((name) => index.nominations.staying.has(name));
  failures.push(...memory.nominations.takeFailures());
  const decisions = decisionsOf(pass, claims, index);
  await carryAllOut(pass, decisions);
  const collect = () => collectOrphans(pass, instances ?? []);
  failures.push(...(await attempt('instances without a NodeClaim', collect)));
  failures.push(...(await attempt('nodes without a NodeClaim', () => releaseForsaken(pass))));
  const isLeaving = claims.some((claim) => claim.deletedAtMs !== undefined);
  const isExpecting = claims.some(
    (claim) => isJoining(claim, nowMs) || isAtRisk(claim, index.nominations),
  );
  const { acted, isOpening, evictions } = pass;
  const isUnsettled = acted || isLeaving || isOpening;
  return { isUnsettled, isExpecting, evictions, terminated, failures };
}
