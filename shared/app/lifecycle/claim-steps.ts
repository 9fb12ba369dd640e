import { type Reason, reason } from '../../core/explain/reason.ts';
import { nodeClassOf } from '../../core/launch/node-classes.ts';
import {
  type ClaimDecision,
  instanceIdOf,
  type LifecycleAction,
  TERMINATION_FINALIZER,
} from '../../core/lifecycle/actions.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { differencesOf } from '../../core/lifecycle/consistency.ts';
import type { Node } from '../../core/model/cluster.ts';
import {
  CAPACITY_TYPE,
  INITIALIZED,
  INTERRUPTED,
  NODE_POOL,
  ON_DEMAND,
  PRICE,
  RESERVATION_ID,
  RESERVATION_LABELS,
  ZONE,
} from '../../core/model/labels.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { type ClusterState, PortError, type Ports } from '../../ports.ts';
import { recordAllocatable } from '../instance-types/observed-allocatable.ts';
import { isPaused } from '../settings.ts';
import { atOnce } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import { recordDecision, recordNothing, saying } from '../writes/decisions.ts';
import { takeInOrder } from '../writes/in-order.ts';
import { claimRef, nodeRef, podRef } from '../writes/references.ts';
import { isHurried } from './blocked-evictions.ts';
import { evictPods, publishKept, taintNode } from './drains.ts';
import { deleteClaim, type HealthPass } from './health.ts';
import { nominatePods } from './nomination/nominations.ts';
import { type ClaimPass, carryOut, confirm, setConditions } from './registration.ts';
import { withoutRollout } from './rollouts.ts';

/** A pass is not to take longer than EC2 leaves a node that it has warned of. */
const CLAIMS_AT_ONCE = 10;

/** A round over all claims. */
export interface Pass extends HealthPass, ClaimPass {
  readonly state: ClusterState;
  /** Terminations left in this minute; interrupted claims are not counted against it. */
  terminationsLeft: number;
  evictions: number;
  /** Something is as it was not before; asking in vain is not that. */
  changed: boolean;
  readonly terminated: string[];
  /** A node has joined and opens as soon as it is ready. */
  isRegistering: boolean;
  /** What was thrown while a NodeClaim was decided about: faults of the program. */
  readonly defects: unknown[];
}

/** EC2 takes an interrupted claim's instance anyway; one that was ended counts only once. */
function isCounted(claim: NodeClaim): boolean {
  return claim.annotations[INTERRUPTED] === undefined && !isTrue(claim, 'InstanceTerminating');
}

async function recordTermination(
  { ports, nowMs }: Pass,
  claim: NodeClaim,
  why: Reason,
): Promise<void> {
  const { [NODE_POOL]: nodePool = '', [CAPACITY_TYPE]: capacityType = '' } = claim.labels;
  const decision = {
    id: `terminate-${claim.name}`,
    atMs: nowMs,
    useCase: 'lifecycle',
    object: `NodeClaim/${claim.name}`,
    action: 'terminate',
    reasons: [why],
    detail: { nodePool, node: claim.nodeName ?? null, chosen: { capacityType } },
  } as const;
  await recordDecision({ ports }, decision);
}

/** What stays refused, as where somebody protects the instance, has to be seen: it is paid for. */
async function endInstance(
  { cluster, compute }: Ports,
  claim: NodeClaim,
  instanceId: string,
): Promise<void> {
  try {
    await compute.terminate([instanceId]);
  } catch (error) {
    if (!(error instanceof PortError) || error.isTransient) throw error;
    const message = `${error.code}: ${error.message}`;
    const event = { type: 'Warning', reason: 'FailedTermination', message } as const;
    await cluster.event({ regarding: claimRef(claim), ...event });
    throw error;
  }
}

async function terminate(pass: Pass, claim: NodeClaim, instanceId: string): Promise<boolean> {
  const { ports, state, nowMs } = pass;
  if (isPaused(state.pausedUntilMs.terminate, nowMs)) {
    await recordNothing(pass, reason('terminations-paused', {}), 'NodeClaims', 'lifecycle');
    return false;
  }
  const counted = isCounted(claim);
  if (counted && pass.terminationsLeft === 0) {
    await recordNothing(pass, reason('terminations-capped', {}), 'NodeClaims', 'lifecycle');
    return false;
  }
  // Taken before it is used: other claims are looked at meanwhile. A refused one counts, too.
  if (counted) {
    pass.terminationsLeft -= 1;
    pass.memory.addTermination(nowMs);
  }
  await endInstance(ports, claim, instanceId);
  if (!isTrue(claim, 'InstanceTerminating')) {
    const why = reason('instance-terminated', { instance: instanceId });
    await recordTermination(pass, claim, why);
  }
  pass.terminated.push(claim.name);
  return true;
}

async function initialize(pass: Pass, claim: NodeClaim, node: Node): Promise<void> {
  const { cluster } = pass.ports;
  await cluster.patchNode(nodeRef(node), { labels: { [INITIALIZED]: 'true' } });
  const differences = differencesOf(claim, node);
  if (differences.length > 0) {
    const said = saying(reason('node-inconsistent', { differences }));
    const event = { type: 'Warning', reason: 'FailedConsistencyCheck', ...said } as const;
    await cluster.event({ regarding: claimRef(claim), ...event });
  }
  const nodeClass = nodeClassOf(pass.state, claim.nodeClassRef);
  if (nodeClass !== undefined) await recordAllocatable(pass.ports, nodeClass, claim, node);
}

/** The claim comes last: what it says is what this is decided by. */
async function demote({ ports }: Pass, claim: NodeClaim, nodes: readonly Node[]): Promise<void> {
  const { cluster } = ports;
  const without = Object.fromEntries([...RESERVATION_LABELS].map((key) => [key, null]));
  const labels = { [CAPACITY_TYPE]: ON_DEMAND, ...without };
  for (const node of nodes) await cluster.patchNode(nodeRef(node), { labels });
  // Noted at the launch, when it was paid by the reservation: caps on price would count it as free.
  const annotations = { [PRICE]: null };
  await cluster.patchNodeClaim(claimRef(claim), { labels, annotations });
  const reservation = claim.labels[RESERVATION_ID] ?? '';
  const said = saying(reason('reservation-ended', { reservation }));
  const event = { type: 'Warning', reason: 'CapacityReservationEnded', ...said } as const;
  await cluster.event({ regarding: claimRef(claim), ...event });
}

async function finalizeNode({ ports }: Pass, claim: NodeClaim, node: Node): Promise<void> {
  await ports.cluster.patchNode(nodeRef(node), { removeFinalizer: TERMINATION_FINALIZER });
  const { recorder, clock } = ports;
  const { [NODE_POOL]: nodepool = '', [ZONE]: zone = '' } = claim.labels;
  const nowMs = clock.nowMs();
  recorder.detail?.('nodes_terminated_total', { nodepool, zone }, 1);
  const livedMs = nowMs - node.createdAtMs;
  recorder.detail?.('nodes_lifetime_duration_seconds', { nodepool }, livedMs / 1000);
  const { deletedAtMs } = node;
  if (deletedAtMs === undefined) return;
  const endingMs = Math.max(0, nowMs - deletedAtMs);
  recorder.detail?.('nodes_termination_duration_seconds', { nodepool }, endingMs / 1000);
}

async function finalizeClaim(pass: Pass, claim: NodeClaim): Promise<void> {
  const { ports } = pass;
  const instance = instanceIdOf(claim.providerId);
  // Who adds up what nodes have cost has to know of every end, also of those by EC2.
  if (instance !== undefined && !isTrue(claim, 'InstanceTerminating')) {
    await recordTermination(pass, claim, reason('instance-ended', { instance }));
  }
  // What it took of the account's quotas is free again.
  if (claim.providerId !== undefined) await ports.memory.forgetBars('quota');
  await ports.cluster.patchNodeClaim(claimRef(claim), { removeFinalizer: TERMINATION_FINALIZER });
  ports.recorder.count('nodeclaims_terminated_total', {
    nodepool: claim.labels[NODE_POOL] ?? '',
    capacity_type: claim.labels[CAPACITY_TYPE] ?? '',
    zone: claim.labels[ZONE] ?? '',
  });
  if (claim.deletedAtMs === undefined) return;
  const seconds = Math.max(0, ports.clock.nowMs() - claim.deletedAtMs) / 1000;
  const { [NODE_POOL]: nodepool = '' } = claim.labels;
  ports.recorder.detail?.('nodeclaims_termination_duration_seconds', { nodepool }, seconds);
}

/** Pods that a budget keeps are not asked for in each pass, unless EC2 takes their node. */
async function evict(pass: Pass, claim: NodeClaim, pods: readonly Pod[]): Promise<void> {
  const { ports, nowMs, memory } = pass;
  const { blocked } = memory;
  const { podDisruptionBudgets } = pass.state.objects;
  const due = isHurried(claim, nowMs) ? pods : blocked.due(pods, podDisruptionBudgets);
  const { evictions, failures } = await evictPods(ports, due, {
    isNews: (pod) => blocked.takeSaying(pod, nowMs),
    onAnswer: (pod, isGone) => blocked.note(pod, isGone, podDisruptionBudgets, nowMs),
  });
  pass.evictions += evictions;
  if (evictions > 0) pass.changed = true;
  pass.failures.push(...failures);
}

/** Repeats are told of as those of refused evictions are. */
async function keep({ ports, nowMs, memory }: Pass, pods: readonly Pod[]): Promise<void> {
  await publishKept(ports, pods, { isNews: (pod) => memory.blocked.takeSaying(pod, nowMs) });
}

/** What is done for a claim by itself; nodes open together, and instances are named at the end. */
type Step = Exclude<LifecycleAction, { kind: 'register' | 'tag' }>;

/** Carries one action out; false: it was not done, and those that need it have to wait. */
async function act(pass: Pass, claim: NodeClaim, action: Step): Promise<boolean> {
  const { cluster } = pass.ports;
  switch (action.kind) {
    case 'delete-claim':
      await deleteClaim(pass, claim, action);
      return true;
    case 'confirm':
      await confirm(pass, claim, action.node, pass.state.objects.pods);
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
    case 'hold-claim': {
      const patch = { addFinalizer: TERMINATION_FINALIZER };
      return (await cluster.patchNodeClaim(claimRef(claim), patch)) === 'done';
    }
    case 'annotate':
      await cluster.patchNodeClaim(claimRef(claim), { annotations: action.annotations });
      return true;
    case 'demote':
      await demote(pass, claim, action.nodes);
      return true;
    case 'delete-node':
      await cluster.delete(nodeRef(action.node));
      return true;
    case 'taint-node':
      return (await taintNode(pass.ports, action)) === 'done';
    case 'evict': {
      await evict(pass, claim, action.pods);
      return true;
    }
    case 'restart':
      await evict(pass, claim, await withoutRollout(pass, claim, action.pods));
      return true;
    case 'keep':
      await keep(pass, action.pods);
      return true;
    case 'remove-pod':
      await cluster.deletePod(podRef(action.pod), action.gracePeriodSeconds);
      return true;
    case 'terminate':
      return await terminate(pass, claim, action.instanceId);
    case 'finalize-node':
      await finalizeNode(pass, claim, action.node);
      return true;
    case 'finalize-claim':
      await finalizeClaim(pass, claim);
      return true;
  }
}

/** What may change nothing, however often it is done. */
const ASKING: ReadonlySet<Step['kind']> = new Set(['evict', 'keep']);

function isStep(action: LifecycleAction): action is Step {
  return action.kind !== 'register' && action.kind !== 'tag';
}

async function takeClaimSteps(pass: Pass, { claim, actions }: ClaimDecision): Promise<void> {
  const take = async (step: Step): Promise<boolean> => {
    const isDone = await carryOut(pass, claim, () => act(pass, claim, step));
    if (isDone && !ASKING.has(step.kind)) pass.changed = true;
    return isDone;
  };
  await takeInOrder(actions.filter(isStep), take);
}

/**
 * Nothing waits for names. Where they are refused that is reported with each pass, but there is
 * nothing to stay for: the next minute tries again.
 */
async function tagInstance(pass: Pass, { claim, actions }: ClaimDecision): Promise<void> {
  const { cluster, compute } = pass.ports;
  for (const action of actions) {
    if (action.kind !== 'tag') continue;
    const tag = async (): Promise<void> => {
      await compute.tag(action.instanceId, action.tags);
      await cluster.patchNodeClaim(claimRef(claim), { annotations: action.annotations });
      pass.acted = true;
      pass.changed = true;
    };
    pass.failures.push(...(await attempt(`NodeClaim/${claim.name}`, tag)));
  }
}

/** Several claims at once; tags come last, as EC2 takes only a few such calls a second. */
export async function takeSteps(pass: Pass, decisions: readonly ClaimDecision[]): Promise<void> {
  await atOnce(CLAIMS_AT_ONCE, decisions, (each) => takeClaimSteps(pass, each));
  await atOnce(CLAIMS_AT_ONCE, decisions, (each) => tagInstance(pass, each));
}
