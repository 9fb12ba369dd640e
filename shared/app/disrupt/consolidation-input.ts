import { blockersOf, isEmpty, unevictableBy } from '../../core/disruption/candidates.ts';
import { type Consolidation, plansFor } from '../../core/disruption/consolidation/consolidate.ts';
import {
  consolidationGuardOf,
  tooYoung,
} from '../../core/disruption/consolidation/consolidation-guard.ts';
import { evictionCostOf } from '../../core/disruption/consolidation/eviction-cost.ts';
import { limitsGuardOf } from '../../core/disruption/consolidation/limits-guard.ts';
import {
  type ConsolidationCandidate,
  disruptionOf,
  type PoolUse,
} from '../../core/disruption/consolidation/payback.ts';
import { isConsolidatable } from '../../core/disruption/pod-events.ts';
import { isReason, type Reason, reason } from '../../core/explain/reason.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  RESERVATION_ID,
  SPOT,
  ZONE,
} from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { blockedByPool, isDisruptionPaused, isLaunchPaused } from './blocked.ts';
import { Allowance } from './budgets.ts';
import {
  type DisruptionCandidate,
  disruptionCandidates,
  type PoolCandidate,
} from './candidates.ts';
import { endingsLeft } from './emptiness.ts';
import { withoutFailedMoves } from './failed-moves.ts';
import type { DisruptPass } from './pass.ts';
import { reservedSnapshot } from './snapshot.ts';

/** Where not all nodes can be looked at, each minute begins with others. */
const TURN_MS = 60_000;

/** USD an hour of what the claim's instance was bought as; undefined: nobody knows. */
function priceOf({ resolution }: DisruptPass, { labels }: NodeClaim): number | undefined {
  const types = resolution.instanceTypes.get(labels[NODE_POOL] ?? '');
  const type = types?.find(({ name }) => name === labels[INSTANCE_TYPE]);
  return type?.offerings.find(
    ({ zone, capacityType, reservation }) =>
      zone === labels[ZONE] &&
      capacityType === labels[CAPACITY_TYPE] &&
      reservation?.id === labels[RESERVATION_ID],
  )?.price;
}

/** A node whose price is known. */
type PricedCandidate = ConsolidationCandidate & DisruptionCandidate;

export function pricedCandidates(
  pass: DisruptPass,
  standing: readonly DisruptionCandidate[],
): readonly PricedCandidate[] {
  return standing.flatMap((each): readonly PricedCandidate[] => {
    const pricePerHour = priceOf(pass, each.claim);
    if (pricePerHour === undefined) return [];
    const isSpot = each.claim.labels[CAPACITY_TYPE] === SPOT;
    const isDrifted = each.drift.drifts.length > 0;
    const evictionCost = evictionCostOf(each.pods);
    return [{ ...each, pricePerHour, isSpot, isDrifted, evictionCost }];
  });
}

function poolUses(nodes: readonly PricedCandidate[]): ReadonlyMap<string, PoolUse> {
  const byPool = Map.groupBy(nodes, ({ pool }) => pool.name);
  return new Map(
    [...byPool].map(([name, own]) => [
      name,
      {
        pricePerHour: own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
        disruption: own.reduce((sum, each) => sum + disruptionOf(each), 0),
      },
    ]),
  );
}

/** Why nodes of its pool with pods never go, or not so soon; empty: they may. */
export function reasonsNotDue({ nowMs }: DisruptPass, each: PoolCandidate): readonly Reason[] {
  const { pool } = each;
  const { consolidationPolicy, consolidateAfter } = pool.disruption;
  const isNever = consolidateAfter === 'Never';
  const isSoon = !isNever && !isConsolidatable(each, consolidateAfter, nowMs);
  return [
    ...(pool.replicas === undefined
      ? []
      : [reason('nodepool-static-stays', { nodePool: pool.name })]),
    ...(consolidationPolicy === 'WhenEmpty' ? [reason('policy-when-empty', {})] : []),
    ...(isNever ? [reason('consolidate-after-never', {})] : []),
    ...(isSoon ? [reason('pods-changed-recently', {})] : []),
  ];
}

/** Those of the nodes with pods that their pools let go now; what is known of the others is noted. */
export function dueCandidates(
  pass: DisruptPass,
  nodes: readonly PricedCandidate[],
): readonly PricedCandidate[] {
  return nodes.filter((each) => {
    if (isEmpty(each)) return false;
    const reasons = reasonsNotDue(pass, each);
    if (reasons.length > 0) pass.kept.set(each.claim.name, reasons);
    return reasons.length === 0;
  });
}

/** What holds a node with pods that is due. */
interface Hold {
  /** Annotations of its NodePool that cannot be read. */
  readonly unread: readonly Reason[];
  readonly ofPool: readonly Reason[];
  /** Of the node and its pods. */
  readonly own: readonly Reason[];
  readonly budgets: readonly Reason[];
}

/** All that holds the node, whether a move of its pods would pay back or not. */
export function holdOf(
  { state, nowMs }: DisruptPass,
  each: PoolCandidate,
  allowance: Allowance,
): Hold {
  const { claim, pool } = each;
  const { podDisruptionBudgets } = state.objects;
  const isSpent = allowance.left(pool) <= 0;
  const young = tooYoung(pool, claim, nowMs);
  return {
    unread: [limitsGuardOf(pool), consolidationGuardOf(pool)].flatMap((each) =>
      isReason(each) ? [each] : [],
    ),
    ofPool: [
      ...(blockedByPool(pool)?.reasons ?? []),
      ...(young === undefined || young.code === 'guard-unreadable' ? [] : [young]),
    ],
    own: [...blockersOf(each, podDisruptionBudgets, nowMs, 'graceful'), ...unevictableBy(each)],
    budgets: isSpent ? [reason('budgets-used-up', { nodePool: pool.name })] : [],
  };
}

/**
 * Of these nodes the ones that nothing holds. What does is not said with events: whether a move
 * would pay back nobody knows then.
 */
async function freeNodes(
  pass: DisruptPass,
  nodes: readonly PricedCandidate[],
  allowance: Allowance,
): Promise<readonly PricedCandidate[]> {
  const { events, kept, unconsolidatable } = pass;
  const free: PricedCandidate[] = [];
  for (const each of nodes) {
    const { claim, pool } = each;
    const { unread, ofPool, own, budgets } = holdOf(pass, each, allowance);
    if (unread.length > 0) await events.ofPool(pool, unread);
    const reasons = [...unread, ...ofPool, ...own, ...budgets];
    if (reasons.length === 0) free.push(each);
    else kept.set(claim.name, reasons);
    const isLasting = unread.length + ofPool.length === 0 && own.length > 0;
    if (isLasting) unconsolidatable.set(claim.name, own);
  }
  return free;
}

/** What the search goes by; undefined: there is nothing to look for. */
export async function consolidationOf(
  pass: DisruptPass,
): Promise<Omit<Consolidation, 'known'> | undefined> {
  const { settings, nowMs } = pass;
  const nodes = pricedCandidates(pass, disruptionCandidates(pass));
  const due = dueCandidates(pass, nodes);
  if (due.length === 0 || isLaunchPaused(pass) || (await isDisruptionPaused(pass)))
    return undefined;
  const allowance = new Allowance(pass, 'Underutilized');
  const candidates = await freeNodes(pass, due, allowance);
  if (candidates.length === 0) return undefined;
  const { snapshot: reserved, hosts } = await reservedSnapshot(pass);
  const snapshot = withoutFailedMoves(pass, reserved);
  // What is empty goes for nothing: to move pods there saves no more.
  const restless = nodes.filter((each) => {
    const { consolidateAfter } = each.pool.disruption;
    if (consolidateAfter === 'Never' || each.pool.replicas !== undefined) return false;
    return isEmpty(each) || !isConsolidatable(each, consolidateAfter, nowMs);
  });
  return {
    snapshot,
    candidates: candidates.filter(({ node }) => !hosts.has(node.name)),
    allowance: new Map(candidates.map(({ pool }) => [pool.name, allowance.left(pool)])),
    nodesMax: endingsLeft(pass),
    pools: poolUses(nodes),
    quiet: new Set(restless.map(({ node }) => node.name)),
    scheduling: settings.scheduling,
    settings: settings.consolidation,
    plansMax: plansFor(nodes.length),
    turn: Math.floor(nowMs / TURN_MS),
    asked: pass.asked,
  };
}
