import { resolveTypes } from '../../../shared/app/planning/provisioning-input.ts';
import { offeringOf } from '../../../shared/core/comparison/cluster-at-rest.ts';
import { budgetsOf } from '../../../shared/core/disruption/candidates.ts';
import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { withGroupCaps } from '../../../shared/core/limit-groups/group-room.ts';
import { capsAt } from '../../../shared/core/limit-groups/limit-groups.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import {
  CAPACITY_TYPE,
  NODE_POOL,
  PRICE,
  RETURN_TO_FIRST_CHOICE,
  SPOT,
} from '../../../shared/core/model/labels.ts';
import type { Plan } from '../../../shared/core/model/plan.ts';
import { asWaiting, type Pod, podKey } from '../../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../../shared/core/model/snapshot.ts';
import type { Taint } from '../../../shared/core/model/taint.ts';
import { solve } from '../../../shared/core/scheduling/solve.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { World } from '../../../shared/sim/world.ts';
import { CORES_OF_LARGEST, roomOf } from './caps.ts';
import { leavesPods } from './left-over.ts';
import { isBudgetSpent, isBudgetTight, isGuarded, isMoved, isProtected } from './own-rules.ts';
import { isRestarted, priceToReplaceBy, surgeOf } from './refused-moves.ts';
import type { Setting } from './setting.ts';

/** What nodes cost at rest, and what a plan from nothing of their pods would. */
export interface Bill {
  /** USD an hour of the nodes that could be others; those that are held are in neither sum. */
  readonly paid: number;
  readonly planned: number;
  /** Some of them are spot nodes, which no other spot node replaces: they stay as they are, or go. */
  readonly hasSpot: boolean;
  /** Budgets never let all of them go at once: moves of few at a time may save nothing. */
  readonly isTight: boolean;
  /** Moves restart Deployments, which have more pods for as long: nodes for those would stay. */
  readonly hasRestarts: boolean;
  /** All that could be saved would repay the eviction of the pods of at least one of the nodes. */
  readonly canRepay: boolean;
  /** Nodes that cost what they cost, by why. */
  readonly held: ReadonlyMap<string, number>;
  /** Pods that the plan has no place for. */
  readonly unplaced: number;
  /** The plan has more nodes, and limits leave no room for two beside the one that they replace. */
  readonly isCramped: boolean;
  /** The plan has no new node, and kube-scheduler may leave pods over that have a place in it. */
  readonly isSpoilt: boolean;
  /** No plan that has room for the pods that restarts start beside those that move is cheaper. */
  readonly isLeastWithRestarts: boolean;
}

const HOUR_MS = 3_600_000;

/** Of a node that no pod is to be planned on. */
const RETURNS: Taint = { key: 'returns', value: '', effect: 'NoSchedule' };

type State = ReturnType<typeof readState>['objects'];

/** A node that may go, and its claim. */
interface Usage {
  readonly node: Node;
  readonly claim: NodeClaim;
  readonly pods: readonly Pod[];
}

/** Whether nodes were launched for pods of its workload after a move, and the next one waits. */
function isMoveUndone({ annotations }: NodePool, pod: Pod, nowMs: number): boolean {
  const owner = pod.controller?.name ?? '';
  const name = pod.controller?.kind === 'ReplicaSet' ? owner.replace(/-[^-]*$/, '') : owner;
  const text = annotations['joiner.dev/undone-moves'] ?? '{}';
  const until: unknown = JSON.parse(text)[`${pod.namespace}/${name}`]?.until;
  return typeof until === 'string' && nowMs < Date.parse(until);
}

/** Why the node may not go for the money; undefined: it may. */
function holderOf({ claim, pods, node }: Usage, state: State, nowMs: number): string | undefined {
  const pool = state.nodePools.find(({ name }) => name === node.labels[NODE_POOL]);
  const own = pods.filter(isMoved);
  if (claim.deletedAtMs !== undefined) return 'its drain waits for pods';
  if (pool === undefined || pool.replicas !== undefined) return 'its NodePool is static';
  if (pool.disruption.consolidationPolicy === 'WhenEmpty') return 'only empty nodes go';
  if (pool.disruption.consolidateAfter === 'Never') return 'consolidateAfter is Never';
  if (isGuarded(pool)) return 'its NodePool guards it';
  if (isBudgetSpent(claim, 'Underutilized', state, nowMs)) return 'budgets let no node go';
  if (own.some((pod) => isProtected(pod, nowMs))) return 'a pod is not to be disrupted';
  const isHeld = (pod: Pod): boolean =>
    budgetsOf(pod, state.podDisruptionBudgets).some((each) => each.disruptionsAllowed === 0);
  if (own.some(isHeld)) return 'a PodDisruptionBudget allows no eviction';
  if (claim.annotations['joiner.dev/held-moves'] !== undefined) return 'its moves were held';
  if (own.some((pod) => isMoveUndone(pool, pod, nowMs))) return 'a move of its pods was undone';
  return undefined;
}

/** Spot nodes are not replaced by spot nodes, so they are kept when they have become dearer. */
function isDearSpot({ claim }: Usage, price: number): boolean {
  return claim.labels[CAPACITY_TYPE] === SPOT && price > 1.01 * Number(claim.annotations[PRICE]);
}

/** The pods of nodes that may go wait, and there are none of these nodes. */
function withoutNodes(snapshot: ClusterSnapshot, free: readonly Usage[]): ClusterSnapshot {
  const nodes = new Set(free.map(({ node }) => node.name));
  const claims = new Set(free.map(({ claim }) => claim.name));
  return {
    ...snapshot,
    nodes: snapshot.nodes.filter(({ name }) => !nodes.has(name)),
    nodeClaims: snapshot.nodeClaims.filter(({ name }) => !claims.has(name)),
    pods: snapshot.pods.flatMap((pod): readonly Pod[] => {
      if (!nodes.has(pod.nodeName ?? '')) return [pod];
      if (!isMoved(pod)) return [];
      return [asWaiting(pod)];
    }),
  };
}

/** Pods that are started beside those of the nodes while Deployments are restarted wait, too. */
function withSurge(snapshot: ClusterSnapshot, free: readonly Usage[], state: State) {
  const surge = free.flatMap(({ pods }) => surgeOf(pods, state));
  const others = surge.map((pod, at): Pod => {
    const name = `${pod.name}-surge-${at}`;
    return { ...asWaiting(pod), name, uid: name };
  });
  return { ...snapshot, pods: [...snapshot.pods, ...others] };
}

/**
 * The same in which empty nodes that stay take nobody, where their NodePool returns nodes to a
 * first choice: pods that move there may be just what makes them return.
 */
function withoutReturning(snapshot: ClusterSnapshot, free: readonly Usage[]): ClusterSnapshot {
  const isFree = new Set(free.map(({ node }) => node.name));
  const used = new Set(snapshot.pods.filter(isMoved).map(({ nodeName }) => nodeName));
  const nodes = snapshot.nodes.map((node) => {
    const pool = snapshot.nodePools.find(({ name }) => name === node.labels[NODE_POOL]);
    const returns = pool?.annotations[RETURN_TO_FIRST_CHOICE] !== undefined;
    if (!returns || used.has(node.name) || isFree.has(node.name)) return node;
    return { ...node, taints: [...node.taints, RETURNS] };
  });
  return { ...snapshot, nodes };
}

/**
 * Whether other nodes take the pods of the node, and those that come before these go. No spot node
 * is replaced by a spot node, as in Karpenter without `SpotToSpotConsolidation`.
 */
function hasRoomElsewhere(usage: Usage, snapshot: ClusterSnapshot, world: World): boolean {
  const full = snapshot.nodePools.map((pool) => ({ ...pool, limits: { nodes: 0 } }));
  const there = { ...snapshot, nodePools: full };
  const state = readState(world.store).objects;
  const moved = withSurge(withoutNodes(there, [usage]), [usage], state);
  const known = new Set(snapshot.pods.filter(({ nodeName }) => nodeName === undefined).map(podKey));
  const { unplaced } = solve(moved, world.settings.scheduling);
  return [...unplaced.keys()].every((key) => known.has(key));
}

/** Whether so many USD an hour repay the pods of the node that has the fewest. */
function repays(perHour: number, free: readonly Usage[], { settings }: World): boolean {
  const { horizonMs, evictionPrice } = settings.consolidation;
  const evictions = free.map(({ pods }) => pods.filter(isMoved).length);
  return (perHour * horizonMs) / HOUR_MS > Math.min(...evictions) * evictionPrice;
}

/** A replacement comes before the node goes, and caps hold for both. */
function hasNoRoom(claim: NodeClaim, setting: Setting, state: State): boolean {
  const { nodes, cpu } = roomOf(claim, state, setting);
  return nodes <= 0 || cpu < CORES_OF_LARGEST;
}

function namesOf(usages: readonly Usage[]): ReadonlySet<string> {
  return new Set(usages.map(({ node }) => node.name));
}

/** By the same NodePools and limits; nodes that are held keep their pods, and have room for others. */
export async function billOf(world: World, setting: Setting): Promise<Bill> {
  const state = readState(world.store);
  const { nodes, nodeClaims, nodePools, pods } = state.objects;
  const nowMs = world.timeline.nowMs();
  const { instanceTypes } = await resolveTypes(world.ports, world.settings, state);
  const caps = capsAt(world.settings.limitGroups, nodePools, nowMs);
  const snapshot = withGroupCaps({ ...state.objects, instanceTypes }, caps);
  const held = new Map<string, number>();
  const usages = nodes.flatMap((node): readonly Usage[] => {
    const claim = nodeClaims.find(({ providerId }) => providerId === node.providerId);
    const own = pods.filter(({ nodeName }) => nodeName === node.name);
    return claim === undefined ? [] : [{ node, claim, pods: own }];
  });
  const priceOf = ({ claim, node }: Usage): number =>
    offeringOf(snapshot, { ...claim.labels, ...node.labels })?.offering.price ??
    world.compute.machines.get(instanceIdOf(claim.providerId) ?? '')?.offering.listPrice ??
    0;
  const free = usages.filter((usage) => {
    const dear = isDearSpot(usage, priceOf(usage)) ? 'spot became dearer' : undefined;
    const isFull = hasNoRoom(usage.claim, setting, state.objects);
    const full = isFull ? 'there is no room beside it' : undefined;
    const why = full ?? dear ?? holderOf(usage, state.objects, nowMs);
    if (why !== undefined) held.set(why, (held.get(why) ?? 0) + 1);
    return why === undefined;
  });
  // They are in both amounts: whether a few others go is not to decide alone.
  const isKept = (usage: Usage): boolean =>
    usage.claim.labels[CAPACITY_TYPE] === SPOT && !hasRoomElsewhere(usage, snapshot, world);
  const { true: kept = [], false: others = [] } = Object.groupBy(free, (each) => `${isKept(each)}`);
  const without = withoutReturning(withoutNodes(snapshot, others), others);
  const sumOf = (prices: readonly number[]): number => prices.reduce((sum, each) => sum + each, 0);
  const priceOfPlan = ({ newNodeClaims }: Plan): number => {
    const planned = newNodeClaims.map((each) => {
      const pool = nodePools.find(({ name }) => name === each.nodePool);
      const types = instanceTypes.get(each.nodePool) ?? [];
      return pool === undefined ? each.chosen.price : priceToReplaceBy(each, pool, types);
    });
    return sumOf([...kept.map(priceOf), ...planned]);
  };
  const plan = solve(without, world.settings.scheduling);
  const now = { paid: sumOf(free.map(priceOf)), planned: priceOfPlan(plan) };
  const isCramped = ({ claim }: Usage): boolean => roomOf(claim, state.objects, setting).nodes < 2;
  const hasRestarts = free.some(({ pods: own }) => own.some(isRestarted));
  const priceWithSurge = (): number =>
    priceOfPlan(solve(withSurge(without, others, state.objects), world.settings.scheduling));
  return {
    ...now,
    hasSpot: free.some(({ claim }) => claim.labels[CAPACITY_TYPE] === SPOT),
    isTight: free.some(({ claim }) => isBudgetTight(claim, 'Underutilized', state.objects, nowMs)),
    hasRestarts,
    isCramped: plan.newNodeClaims.length > others.length && others.some(isCramped),
    isSpoilt: plan.newNodeClaims.length === 0 && leavesPods(state.objects, namesOf(others)),
    isLeastWithRestarts: hasRestarts && now.paid > now.planned && now.paid <= priceWithSurge(),
    canRepay: repays(now.paid - now.planned, free, world),
    held,
    unplaced: plan.unplaced.size,
  };
}
