import { isOurs } from '../../launch/node-classes.ts';
import { launchPlanOf } from '../../model/annotations/launch-plan.ts';
import { replacementNames } from '../../model/annotations/replacements.ts';
import type { DaemonSet, Node } from '../../model/cluster.ts';
import type { InstanceType } from '../../model/instance-type.ts';
import {
  CAPACITY_TYPE,
  HOSTNAME,
  INITIALIZED,
  INSTANCE_TYPE,
  INTERRUPTED,
  type Labels,
  NODE_POOL,
  ownValue,
  REGISTERED,
  REPLACED_BY,
  ZONE,
} from '../../model/labels.ts';
import type { NodeClaim } from '../../model/provisioning.ts';
import { amountOf, maxResources, NO_RESOURCES, type Resources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { CANDIDATE, isDisrupted, isEphemeralTaint, type Taint } from '../../model/taint.ts';
import { NODE_NAME_FIELD } from './node-terms.ts';

/** A node that exists, or a NodeClaim whose node is still to come: capacity already paid for. */
export interface StateNode {
  readonly name: string;
  readonly label: (key: string) => string | undefined;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly isInitialized: boolean;
  /** Of its claim, where it has one: whoever changes the node's label takes it out of no limit. */
  readonly nodePool: string | undefined;
  /** Going away: its capacity is not counted, its pods are in the demand. */
  readonly isLeaving: boolean;
  /**
   * Limits of its NodePool count it: it stays, or it may still, since nothing but its taint says
   * that it goes.
   */
  readonly isLimited: boolean;
  /** Going away with whatever runs there: even pods that hold it are gone by a deadline. */
  readonly losesAllPods: boolean;
  readonly attachLimits: Readonly<Record<string, number>>;
}

/** Taints that pass by themselves while a node of ours starts. */
function isEphemeral(taint: Taint, startupTaints: readonly Taint[]): boolean {
  return (
    isEphemeralTaint(taint) ||
    startupTaints.some((each) => each.key === taint.key && each.effect === taint.effect)
  );
}

function labelOf(labels: Labels, name: string): (key: string) => string | undefined {
  return (key) => (key === NODE_NAME_FIELD ? name : ownValue(labels, key));
}

/** Taints of both lists, each once. */
function union(a: readonly Taint[], b: readonly Taint[]): readonly Taint[] {
  const isIn = (taint: Taint) =>
    a.some((each) => each.key === taint.key && each.effect === taint.effect);
  return [...a, ...b.filter((taint) => !isIn(taint))];
}

/** Labels that every node of ours gets once it works: a pod that asks for them waits for it. */
const TO_COME: Labels = { [REGISTERED]: 'true', [INITIALIZED]: 'true' };

/** What came of a node, and what it depends on beside it. */
interface Joined {
  readonly claim: NodeClaim | undefined;
  readonly attachLimits: Readonly<Record<string, number>>;
  readonly isReplacedNow: boolean;
  readonly state: StateNode;
}

/** Most nodes are the same from one plan to the next. */
const joinedOf = new WeakMap<Node, Joined>();
const NO_LIMITS: Readonly<Record<string, number>> = {};

/**
 * What the node's CSINode says, and what is promised of the drivers that it does not name yet: the
 * kubelet makes a CSINode without drivers before the first of their pods has come to the node.
 */
function attachLimitsOf(
  told: StateNode['attachLimits'],
  promised: StateNode['attachLimits'],
): StateNode['attachLimits'] {
  const isAllTold = Object.keys(promised).every((driver) => told[driver] !== undefined);
  return isAllTold ? told : { ...promised, ...told };
}

function stateOf(
  node: Node,
  claim: NodeClaim | undefined,
  limits: AttachLimits,
  promised: StateNode['attachLimits'],
  there: PoolsByClaim,
): StateNode {
  const attachLimits = attachLimitsOf(limits.get(node.name) ?? NO_LIMITS, promised);
  const isReplacedNow = isReplaced(claim, there);
  const known = joinedOf.get(node);
  const isSame = known?.claim === claim && known?.isReplacedNow === isReplacedNow;
  if (isSame && known?.attachLimits === attachLimits) return known.state;
  const state = fromNode(node, claim, attachLimits, isReplacedNow);
  joinedOf.set(node, { claim, attachLimits, isReplacedNow, state });
  return state;
}

/** EC2 takes its instance in minutes, or has; maintenance that it has scheduled may be days away. */
function isTakenNow({ annotations, deletedAtMs }: NodeClaim): boolean {
  const kind = annotations[INTERRUPTED];
  return deletedAtMs !== undefined && kind !== undefined && kind !== 'scheduled_change';
}

/**
 * Whether the drain of a node ends by a deadline, and something is to be there by then for the pods
 * that hold it: EC2 takes the instance, or the claim's place is planned, or taken. Where a claim was
 * deleted without that, capacity for them would stand empty until the deadline, which may be days
 * away.
 */
function losesAllPods(claim: NodeClaim | undefined): boolean {
  if (claim === undefined) return false;
  if (isTakenNow(claim)) return true;
  if (claim.terminationGracePeriodMs === undefined) return false;
  return claim.deletedAtMs === undefined || claim.annotations[REPLACED_BY] !== undefined;
}

/** The NodePool of every NodeClaim that is not being deleted, by the claim's name. */
type PoolsByClaim = ReadonlyMap<string, string | undefined>;

/**
 * Whether every NodeClaim that is to replace it is there and counted by its NodePool's limits in
 * its place: one that has gone lets its node stay, and one of another NodePool may still fail, when
 * the share given to others would be missing.
 */
function isReplaced(claim: NodeClaim | undefined, there: PoolsByClaim): boolean {
  const names = claim && replacementNames(claim.annotations);
  const pool = claim?.labels[NODE_POOL];
  return names?.every((name) => there.has(name) && there.get(name) === pool) === true;
}

/**
 * Whether a tainted node may stay: its deletion may fail. Until it is deleted, or its replacement
 * is there, its capacity is nobody else's.
 */
function mayStay(node: Node, isReplacedNow: boolean): boolean {
  const isCandidate = node.taints.some(
    ({ key, value }) => key === CANDIDATE.key && value === CANDIDATE.value,
  );
  return !isReplacedNow && !isCandidate;
}

/**
 * Until a node is initialised, what its device plugins have not found yet is what the claim
 * promises. The kubelet says 0 of that as soon as it knows of the resource: of huge pages from the
 * beginning, of devices when their plugin comes before their driver.
 */
function withPromised(reported: Resources, promised: Resources): Resources {
  const awaited = Object.entries(promised).filter(([name]) => amountOf(reported, name) === 0);
  return { ...reported, ...Object.fromEntries(awaited) };
}

/**
 * A node that has not been registered yet carries only what its kubelet says: the claim's labels
 * and taints will be synced to it.
 */
function fromNode(
  node: Node,
  claim: NodeClaim | undefined,
  attachLimits: StateNode['attachLimits'],
  isReplacedNow: boolean,
): StateNode {
  const isAwaited = claim !== undefined && node.labels[REGISTERED] !== 'true';
  const own: Labels = { [HOSTNAME]: node.name, ...node.labels };
  const isInitialized = own[INITIALIZED] === 'true' || claim === undefined;
  const starting = claim !== undefined && !isInitialized;
  const ofClaim = isAwaited ? { ...claim.labels, ...own } : own;
  const labels: Labels = starting ? { ...TO_COME, ...ofClaim } : ofClaim;
  const taints = isAwaited ? union(node.taints, claim.taints) : node.taints;
  const capacity = Object.keys(node.capacity).length > 0 ? node.capacity : node.allocatable;
  const isDeleted = node.deletedAtMs !== undefined || claim?.deletedAtMs !== undefined;
  // EKS Auto Mode writes the same taint, and replaces its nodes itself.
  const isOthers = claim !== undefined && !isOurs(claim.nodeClassRef);
  const isGoing = isDisrupted(node) && !isOthers;
  return {
    name: node.name,
    label: labelOf(labels, node.name),
    labels,
    taints: starting ? taints.filter((taint) => !isEphemeral(taint, claim.startupTaints)) : taints,
    capacity: starting ? withPromised(capacity, claim.capacity) : capacity,
    allocatable: starting ? withPromised(node.allocatable, claim.allocatable) : node.allocatable,
    isInitialized,
    nodePool: claim?.labels[NODE_POOL] ?? labels[NODE_POOL],
    isLeaving: isDeleted || isGoing,
    isLimited: !isDeleted && (!isGoing || mayStay(node, isReplacedNow)),
    losesAllPods: losesAllPods(claim),
    attachLimits,
  };
}

type AttachLimits = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** What a claim that is not launched yet will be, as its plan annotation says. */
function plannedNode(claim: NodeClaim): {
  readonly labels: Labels;
  readonly allocatable: Resources;
  readonly capacity: Resources;
} {
  const plan = launchPlanOf(claim);
  if (plan === undefined) {
    return { labels: {}, allocatable: NO_RESOURCES, capacity: NO_RESOURCES };
  }
  const named = [
    [INSTANCE_TYPE, plan.type],
    [ZONE, plan.zone],
    [CAPACITY_TYPE, plan.capacityType],
  ] as const;
  const labels = Object.fromEntries(
    named.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const { allocatable } = plan;
  return { labels, allocatable, capacity: maxResources(allocatable, plan.capacity) };
}

function fromClaim(claim: NodeClaim, attachLimits: StateNode['attachLimits']): StateNode {
  const planned = plannedNode(claim);
  const own = { [HOSTNAME]: claim.name, ...planned.labels, ...claim.labels };
  const labels: Labels = { ...TO_COME, ...own };
  const isLaunched = Object.keys(claim.allocatable).length > 0;
  return {
    name: claim.name,
    label: labelOf(labels, claim.name),
    labels,
    taints: claim.taints,
    capacity: isLaunched ? claim.capacity : planned.capacity,
    allocatable: isLaunched ? claim.allocatable : planned.allocatable,
    isInitialized: false,
    nodePool: labels[NODE_POOL],
    isLeaving: claim.deletedAtMs !== undefined,
    isLimited: claim.deletedAtMs === undefined,
    losesAllPods: false,
    attachLimits,
  };
}

/**
 * How many volumes the type of a claim takes, for as long as no CSINode says how many its node
 * does: until the driver's pod has come to the node.
 */
class PromisedLimits {
  readonly #types: ClusterSnapshot['instanceTypes'];
  readonly #byPool = new Map<string, ReadonlyMap<string, InstanceType>>();

  constructor({ instanceTypes }: ClusterSnapshot) {
    this.#types = instanceTypes;
  }

  of(claim: NodeClaim | undefined): StateNode['attachLimits'] {
    if (claim === undefined) return NO_LIMITS;
    const type = claim.labels[INSTANCE_TYPE] ?? launchPlanOf(claim)?.type ?? '';
    return this.#typesOf(claim.labels[NODE_POOL] ?? '').get(type)?.attachLimits ?? NO_LIMITS;
  }

  #typesOf(pool: string): ReadonlyMap<string, InstanceType> {
    const known = this.#byPool.get(pool);
    if (known !== undefined) return known;
    const types = new Map((this.#types.get(pool) ?? []).map((each) => [each.name, each]));
    this.#byPool.set(pool, types);
    return types;
  }
}

/** Initialized nodes first, then by name: the order in which room is used. */
function compareNodes(a: StateNode, b: StateNode): number {
  return Number(b.isInitialized) - Number(a.isInitialized) || (a.name < b.name ? -1 : 1);
}

/** Nodes, and NodeClaims that have none yet, in the order in which room is used. */
export function stateNodes(snapshot: ClusterSnapshot): readonly StateNode[] {
  const limits = new Map(snapshot.csiNodes.map((each) => [each.name, each.attachLimits]));
  const byProvider = new Map<string, NodeClaim>();
  const byNode = new Map<string, NodeClaim>();
  const there = new Map<string, string | undefined>();
  for (const claim of snapshot.nodeClaims) {
    if (claim.deletedAtMs === undefined) there.set(claim.name, claim.labels[NODE_POOL]);
    if (claim.providerId !== undefined) byProvider.set(claim.providerId, claim);
    if (claim.nodeName !== undefined) byNode.set(claim.nodeName, claim);
  }
  const joined = new Set<NodeClaim>();
  const promised = new PromisedLimits(snapshot);
  const nodes = snapshot.nodes.map((node) => {
    const claim = byProvider.get(node.providerId ?? '') ?? byNode.get(node.name);
    if (claim !== undefined) joined.add(claim);
    const isStarting = node.labels[INITIALIZED] !== 'true';
    return stateOf(node, claim, limits, isStarting ? promised.of(claim) : NO_LIMITS, there);
  });
  const awaited = snapshot.nodeClaims
    .filter((claim) => !joined.has(claim))
    .map((claim) => fromClaim(claim, promised.of(claim)));
  return [...nodes, ...awaited].sort(compareNodes);
}

/** DaemonSet pods come to every matching node whatever its startup state. */
export const DAEMON_TOLERATIONS = [
  'not-ready',
  'unreachable',
  'disk-pressure',
  'memory-pressure',
  'pid-pressure',
  'unschedulable',
].map((name) => ({
  key: `node.kubernetes.io/${name}`,
  operator: 'Exists' as const,
  value: '',
  effect: undefined,
}));

export function daemonTolerations(daemonSet: DaemonSet) {
  return [...daemonSet.podSpec.tolerations, ...DAEMON_TOLERATIONS];
}
