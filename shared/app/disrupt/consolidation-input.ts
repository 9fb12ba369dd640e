import { blockersOf, isEmpty, unevictableBy } from '../../core/disruption/candidates.ts';
import { plansFor } from '../../core/disruption/consolidation/consolidate.ts';
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
import { savingsLastMs } from '../../core/disruption/consolidation/savings-last.ts';
import type { Consolidation } from '../../core/disruption/consolidation/search.ts';
import { usageGuardOf } from '../../core/disruption/consolidation/usage-guard.ts';
import { reasonsNotDue } from '../../core/disruption/not-due.ts';
import { isConsolidatable } from '../../core/disruption/pod-events.ts';
import { isReason, type Reason, reason } from '../../core/explain/reason.ts';
import { offeringOfClaim } from '../../core/model/claim-offering.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, SPOT, ZONE } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import {
  blockedByPool,
  isDisruptionPaused,
  isLaunchPaused,
  LAUNCHES_PAUSED,
  pausedSoon,
} from './blocked.ts';
import { Allowance } from './budgets.ts';
import {
  type DisruptionCandidate,
  disruptionCandidates,
  type PoolCandidate,
} from './candidates.ts';
import { endingsLeft } from './emptiness.ts';
import { fallbackNames } from './fallback.ts';
import { movesSnapshot } from './moves-snapshot.ts';
import type { DisruptPass } from './pass.ts';

/** Where not all nodes can be looked at, each minute begins with others. */
const TURN_MS = 60_000;

/** USD an hour of what the claim's instance was bought as; undefined: nobody knows. */
function priceOf({ resolution }: DisruptPass, claim: NodeClaim): number | undefined {
  const types = resolution.instanceTypes.get(claim.labels[NODE_POOL] ?? '') ?? [];
  return offeringOfClaim(claim, types)?.price;
}

/** A node whose price is known. */
type PricedCandidate = ConsolidationCandidate & DisruptionCandidate;

/** Those of the nodes whose price is known; of the others that it is not is noted. */
export function pricedCandidates(
  pass: DisruptPass,
  standing: readonly DisruptionCandidate[],
): readonly PricedCandidate[] {
  return standing.flatMap((each): readonly PricedCandidate[] => {
    const { claim, drift, pods } = each;
    const pricePerHour = priceOf(pass, claim);
    if (pricePerHour === undefined) {
      pass.outcome.kept.set(claim.name, [priceUnknown(claim)]);
      return [];
    }
    const isSpot = claim.labels[CAPACITY_TYPE] === SPOT;
    const isDrifted = drift.drifts.length > 0;
    return [{ ...each, pricePerHour, isSpot, isDrifted, evictionCost: evictionCostOf(pods) }];
  });
}

function priceUnknown({ labels }: NodeClaim): Reason {
  return reason('node-price-unknown', {
    instanceType: labels[INSTANCE_TYPE] ?? '',
    capacityType: labels[CAPACITY_TYPE] ?? '',
    zone: labels[ZONE] ?? '',
  });
}

function poolUses(
  { state, settings, nowMs }: DisruptPass,
  nodes: readonly PricedCandidate[],
): ReadonlyMap<string, PoolUse> {
  const byPool = Map.groupBy(nodes, ({ pool }) => pool.name);
  const { nodeClaims } = state.objects;
  const { horizonMs } = settings.consolidation;
  return new Map(
    [...byPool].map(([name, own]) => [
      name,
      {
        pricePerHour: own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
        disruption: own.reduce((sum, each) => sum + disruptionOf(each), 0),
        savingsLastMs: savingsLastMs(nodeClaims, name, nowMs, horizonMs),
      },
    ]),
  );
}

/**
 * Those of the nodes with pods that their pools let go now. Why the others stay is noted: of a node
 * about which somebody asks everything, since each of it is an obstacle of its own.
 */
export function dueCandidates(
  pass: DisruptPass,
  nodes: readonly PricedCandidate[],
): readonly PricedCandidate[] {
  const { asked, outcome } = pass;
  return nodes.filter((each) => {
    if (isEmpty(each)) return false;
    const { name } = each.claim;
    const reasons = reasonsNotDue(each, pass.nowMs);
    if (reasons.length === 0) return true;
    const held =
      name === asked ? allOf(holdOf(pass, each, new Allowance(pass, 'Underutilized'))) : [];
    outcome.kept.set(name, [...reasons, ...held]);
    return false;
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

function allOf({ unread, ofPool, own, budgets }: Hold): readonly Reason[] {
  return [...unread, ...ofPool, ...own, ...budgets];
}

/** All that holds the node, whether a move of its pods would pay back or not. */
export function holdOf(pass: DisruptPass, each: PoolCandidate, allowance: Allowance): Hold {
  const { state, nowMs } = pass;
  const { claim, pool } = each;
  const { podDisruptionBudgets } = state.objects;
  const isSpent = allowance.left(pool) <= 0;
  const young = tooYoung(pool, claim, nowMs);
  return {
    unread: [limitsGuardOf(pool), usageGuardOf(pool), consolidationGuardOf(pool)].flatMap((each) =>
      isReason(each) ? [each] : [],
    ),
    ofPool: [
      ...blockedByPool(pass, pool).flatMap(({ reasons }) => reasons),
      ...pausedSoon(pass, pool),
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
  const { events, kept, unconsolidatable } = pass.outcome;
  const free: PricedCandidate[] = [];
  for (const each of nodes) {
    const { claim, pool } = each;
    const held = holdOf(pass, each, allowance);
    const { unread, ofPool, own } = held;
    if (unread.length > 0) await events.ofPool(pool, unread);
    const reasons = allOf(held);
    if (reasons.length === 0) free.push(each);
    else kept.set(claim.name, reasons);
    const isLasting = unread.length + ofPool.length === 0 && own.length > 0;
    if (isLasting) unconsolidatable.set(claim.name, own);
  }
  return free;
}

/** What the search goes by, but for what pods use; undefined: there is nothing to look for. */
export async function consolidationOf(
  pass: DisruptPass,
): Promise<Omit<Consolidation, 'known' | 'usage'> | undefined> {
  const { settings, nowMs } = pass;
  const nodes = pricedCandidates(pass, disruptionCandidates(pass));
  const due = dueCandidates(pass, nodes);
  if (due.length === 0 || (await isDisruptionPaused(pass))) return undefined;
  if (isLaunchPaused(pass)) {
    for (const { claim } of due) pass.outcome.kept.set(claim.name, LAUNCHES_PAUSED.reasons);
    return undefined;
  }
  const allowance = new Allowance(pass, 'Underutilized');
  const candidates = await freeNodes(pass, due, allowance);
  if (candidates.length === 0) return undefined;
  const { snapshot, hosts } = await movesSnapshot(pass);
  for (const { claim, node } of candidates) {
    if (hosts.has(node.name)) pass.outcome.kept.set(claim.name, [reason('node-takes-pods', {})]);
  }
  // What is empty goes for nothing: to move pods there saves no more.
  const restless = nodes.filter((each) => {
    const { consolidateAfter } = each.pool.disruption;
    if (consolidateAfter === 'Never' || each.pool.replicas !== undefined) return false;
    return isEmpty(each) || !isConsolidatable(each, consolidateAfter, nowMs);
  });
  const nodesMax = endingsLeft(pass);
  if (nodesMax === 0) {
    for (const { claim } of candidates) {
      pass.outcome.kept.set(claim.name, [reason('terminations-capped', {})]);
    }
  }
  return {
    snapshot,
    candidates: candidates.filter(({ node }) => !hosts.has(node.name)),
    allowance: new Map(candidates.map(({ pool }) => [pool.name, allowance.left(pool)])),
    nodesMax,
    pools: poolUses(pass, nodes),
    quiet: new Set(restless.map(({ node }) => node.name)),
    fallbacks: fallbackNames(pass),
    scheduling: settings.scheduling,
    settings: settings.consolidation,
    plansMax: plansFor(nodes.length),
    turn: Math.floor(nowMs / TURN_MS),
    asked: pass.asked,
  };
}

/** The same with what pods use: what moves that were found are judged by again. */
export async function meteredConsolidationOf(
  pass: DisruptPass,
): Promise<Omit<Consolidation, 'known'> | undefined> {
  const input = await consolidationOf(pass);
  return input && { ...input, usage: await pass.usage.of(pass) };
}
