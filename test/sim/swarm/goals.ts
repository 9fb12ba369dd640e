import { budgetsOf } from '../../../shared/core/disruption/candidates.ts';
import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import { DO_NOT_DISRUPT, NODE_POOL, REPLACED_BY, ZONE } from '../../../shared/core/model/labels.ts';
import { isOver, type Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { violations } from '../invariants.ts';
import type { Bill } from './bill.ts';
import { amountsOf, roomOf } from './caps.ts';
import type { CheckerSettings } from './checker-settings.ts';
import { OF_DRAINING } from './checkers.ts';
import type { LaunchCounts } from './launch-counts.ts';
import { isBudgetSpent, isMoved } from './own-rules.ts';
import { FIXED } from './rare-kinds.ts';
import { paidOtherwise } from './reserved.ts';
import { stayedFallbacks } from './stayed.ts';

type State = ReturnType<typeof readState>['objects'];

export type GoalSettings = Pick<CheckerSettings, 'world' | 'setting' | 'users'>;

function nodeOf({ providerId }: NodeClaim, nodes: readonly Node[]): string | undefined {
  return nodes.find((each) => each.providerId === providerId)?.name;
}

/** Whether its replacement is there, and a PodDisruptionBudget keeps its pods since it was begun. */
function waitsForPods({ annotations, providerId }: NodeClaim, state: State): boolean {
  if (annotations[REPLACED_BY] === undefined) return false;
  const name = state.nodes.find((each) => each.providerId === providerId)?.name;
  const own = state.pods.filter(({ nodeName }) => nodeName === name);
  const budgets = own.flatMap((pod) => budgetsOf(pod, state.podDisruptionBudgets));
  return budgets.some(({ disruptionsAllowed }) => disruptionsAllowed === 0);
}

/** How many nodes the static NodePool has, where that is not what it should have. */
function fixedApart({ world, users }: GoalSettings): readonly string[] {
  const state = readState(world.store).objects;
  const { replicas } = users.fixed;
  const { length } = state.nodeClaims.filter(
    (claim) =>
      claim.labels[NODE_POOL] === FIXED &&
      claim.deletedAtMs === undefined &&
      !waitsForPods(claim, state),
  );
  return length === replicas ? [] : [`NodePool ${FIXED} has ${length} nodes of ${replicas}`];
}

/** Zones in which the simulated account has subnets. */
const ZONES = 3;

/** Nodes that the pods of one may need in its place: evenly over zones they go to one in each. */
function nodesNeeded(pods: readonly Pod[]): number {
  const isSpread = pods.some(({ spec }) =>
    spec.topologySpread.some(
      ({ topologyKey, whenUnsatisfiable }) =>
        topologyKey === ZONE && whenUnsatisfiable === 'DoNotSchedule',
    ),
  );
  return isSpread ? Math.min(pods.length, ZONES) : 1;
}

/** A replacement of its size, or as many as its pods need, would be too much beside the others. */
function hasNoRoom(
  claim: NodeClaim,
  own: readonly Pod[],
  { world, setting }: GoalSettings,
): boolean {
  const { nodes, cpu } = roomOf(claim, readState(world.store).objects, setting);
  return nodes < nodesNeeded(own.filter(isMoved)) || cpu < amountsOf([claim]).cpu;
}

/** Whether pods may wait for room under a limit. */
function isCapped({ world, setting: { nodesMax, groupCaps } }: GoalSettings): boolean {
  const { nodePools } = readState(world.store).objects;
  const isLimited = nodePools.some(
    ({ limits, replicas }) => replicas === undefined && Object.keys(limits).length > 0,
  );
  return isLimited || nodesMax !== undefined || groupCaps !== undefined;
}

/** Whether its NodePool keeps empty nodes. */
function isKeptEmpty(
  claim: NodeClaim,
  state: ReturnType<typeof readState>['objects'],
  nowMs: number,
): boolean {
  const pool = state.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
  const isNever = pool?.disruption.consolidateAfter === 'Never';
  return isNever || isBudgetSpent(claim, 'Empty', state, nowMs);
}

/** What must have come about once faults have stopped for long enough. */
export function unmetGoals(of: GoalSettings): readonly string[] {
  const { world, setting } = of;
  const state = readState(world.store).objects;
  const { nodeClaims, nodes, pods, podDisruptionBudgets } = state;
  // At rest all pods are healthy: what a budget does not allow now it never allows.
  const isHeldBy = (pod: Pod) =>
    budgetsOf(pod, podDisruptionBudgets).some(({ disruptionsAllowed }) => disruptionsAllowed === 0);
  const isKeptBy = (pod: Pod) =>
    !isOver(pod) && (DO_NOT_DISRUPT in pod.annotations || isHeldBy(pod));
  const found = [
    ...violations(world).filter((each) => !OF_DRAINING.test(each)),
    ...paidOtherwise(world),
  ];
  const blocked = new Set(
    nodeClaims.filter((claim) => claim.deletedAtMs !== undefined).map(({ nodeName }) => nodeName),
  );
  // Of drains that wait: an empty node may be kept for each.
  let awaited = pods.filter((pod) => isMoved(pod) && blocked.has(pod.nodeName)).length;
  const isFull = nodeClaims.length >= (setting.nodesMax ?? Number.POSITIVE_INFINITY);
  const nowMs = world.timeline.nowMs();
  for (const claim of nodeClaims) {
    const isHeld = pods.some((pod) => pod.nodeName === claim.nodeName && !isOver(pod));
    if (claim.deletedAtMs !== undefined) {
      // Pods that a PodDisruptionBudget keeps.
      if (!isHeld) found.push(`NodeClaim ${claim.name} is deleted and does not go`);
      continue;
    }
    if (!world.compute.machines.has(instanceIdOf(claim.providerId) ?? '')) {
      found.push(`NodeClaim ${claim.name} has no instance`);
    }
    if (!isTrue(claim, 'Initialized')) found.push(`NodeClaim ${claim.name} is not initialised`);
    const name = nodeOf(claim, nodes);
    if (name === undefined) found.push(`NodeClaim ${claim.name} has no Node`);
    const own = pods.filter(({ nodeName }) => nodeName === name);
    const isStatic = claim.labels[NODE_POOL] === FIXED;
    if (!isStatic && !own.some(isMoved) && !isKeptEmpty(claim, state, nowMs)) {
      if (awaited === 0) found.push(`NodeClaim ${claim.name} is empty`);
      else awaited -= 1;
    }
    const isKept =
      hasNoRoom(claim, own, of) ||
      isBudgetSpent(claim, 'Drifted', state, nowMs) ||
      own.some(isKeptBy);
    if (isTrue(claim, 'Drifted') && !isKept) {
      found.push(`NodeClaim ${claim.name} is drifted`);
    }
    if (isTrue(claim, 'DisruptionReason')) found.push(`NodeClaim ${claim.name} is to be disrupted`);
  }
  for (const node of nodes) {
    const owner = nodeClaims.find(({ providerId }) => providerId === node.providerId);
    if (owner === undefined) found.push(`node ${node.name} has no NodeClaim`);
    const own = new Set(owner?.taints.map(({ key }) => key));
    const taints = node.taints.filter(({ key }) => !own.has(key));
    if (taints.length > 0 && !blocked.has(node.name)) {
      found.push(`node ${node.name} is tainted ${taints.map(({ key }) => key).join(', ')}`);
    }
  }
  for (const { name } of stayedFallbacks(of, isKeptBy))
    found.push(`NodeClaim ${name} is a fallback`);
  // A DaemonSet that grows need not fit beside what is on its nodes.
  const pending = pods.filter(
    ({ phase, controller }) => phase === 'Pending' && controller?.kind !== 'DaemonSet',
  );
  if (pending.length > 0 && !isCapped(of)) {
    found.push(`${pending.length} pods are pending: ${pending.map(({ name }) => name).join(', ')}`);
  }
  if (!isFull) found.push(...fixedApart(of));
  return found;
}

/** What a run has come to. */
export interface Measured {
  readonly launches: LaunchCounts;
  /** Undefined: the world did not come to rest. */
  readonly bill: Bill | undefined;
  /** The longest that a pod waited without a cause. */
  readonly waitMinutes: number;
}

/** An amount that stays below a bound, which has room beyond what was measured. */
export interface Goal {
  readonly name: string;
  /** Undefined: there is nothing to measure. */
  readonly of: (measured: Measured) => number | undefined;
  readonly most: number;
  /** What exceeds it may come below it while nothing happens to the cluster. */
  readonly isOfRest: boolean;
}

/** Whether something keeps moves from coming near to a plan from nothing. */
function hasObstacles({ hasSpot, isTight, hasRestarts }: Bill): boolean {
  return hasSpot || isTight || hasRestarts;
}

/** Of whole runs, at their end. */
export const GOALS: readonly Goal[] = [
  {
    name: 'USD of nodes at rest for each of a plan from nothing',
    of: ({ bill }) => (bill && !hasObstacles(bill) ? ratioOf(bill) : undefined),
    most: 1.5,
    isOfRest: true,
  },
  {
    name: 'the same where Deployments are restarted for moves, which needs room meanwhile',
    of: ({ bill }) =>
      bill?.hasRestarts === true && !bill.hasSpot && !bill.isTight ? ratioOf(bill) : undefined,
    most: 1.9,
    isOfRest: true,
  },
  {
    name: 'the same where budgets let no more than some of the nodes go at once',
    of: ({ bill }) => (bill && !bill.hasSpot && bill.isTight ? ratioOf(bill) : undefined),
    most: 2,
    isOfRest: true,
  },
  {
    name: 'the same where spot nodes are among them',
    of: ({ bill }) => (bill?.hasSpot === true ? ratioOf(bill) : undefined),
    most: 1.9,
    isOfRest: true,
  },
  {
    name: 'launches for each pod that waited',
    of: ({ launches: { forPods, waited } }) => (waited === 0 ? undefined : forPods / waited),
    most: 1.5,
    isOfRest: false,
  },
  {
    name: 'moves of one node',
    of: ({ launches }) => launches.movesOfOne,
    most: 6,
    isOfRest: false,
  },
  {
    name: 'launches for moves for each other launch',
    of: ({ launches: { forPods, forStatic, forSmaller, forMoves } }) =>
      forMoves / Math.max(3, forPods + forStatic + forSmaller),
    most: 5,
    isOfRest: false,
  },
  {
    name: 'minutes that a node was paid for beside what came in its place',
    of: ({ launches }) => launches.twiceMinutes,
    most: 30,
    isOfRest: false,
  },
  {
    name: 'minutes that a pod waited since the last thing that could be the cause',
    of: ({ waitMinutes }) => waitMinutes,
    most: 40,
    isOfRest: false,
  },
];

/** Undefined: every node is held, so that none could be another, or no move can be or pays back. */
function ratioOf(bill: Bill): number | undefined {
  const { paid, planned, unplaced, canRepay, isCramped, isSpoilt, isLeastWithRestarts } = bill;
  if (paid === 0 || unplaced > 0 || !canRepay || isCramped || isSpoilt) return undefined;
  return isLeastWithRestarts ? 1 : paid / planned;
}

/** USD an hour, and the nodes that are in neither amount. */
function textOf({ paid, planned, held }: Bill): string {
  const others = [...held].map(([why, nodes]) => `; ${nodes} held since ${why}`);
  return `$${paid.toFixed(4)}/h, from nothing $${planned.toFixed(4)}/h${others.join('')}`;
}

/** What the run exceeds. */
export function exceededGoals(measured: Measured, goals = GOALS): readonly string[] {
  return goals.flatMap(({ name, of, most, isOfRest }) => {
    const value = of(measured);
    if (value === undefined || value <= most) return [];
    const { bill } = measured;
    const about = isOfRest && bill !== undefined ? `: ${textOf(bill)}` : '';
    return [`${value.toFixed(2)} of ${most} ${name}${about}`];
  });
}
