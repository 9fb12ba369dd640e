import { reason } from '../../explain/reason.ts';
import { amountOf } from '../../model/resources.ts';
import { replan } from '../../scheduling/replan.ts';
import { planAround } from '../replaced.ts';
import { withAllWaiting } from '../simulation.ts';
import { BestFirst, pruned } from './best-first.ts';
import { type Move, type MoveContext, moveOf, type Refusal } from './move.ts';
import type { ConsolidationCandidate } from './payback.ts';
import {
  type Compare,
  type Consolidated,
  type Consolidation,
  keyOf,
  most,
  Search,
} from './search.ts';

/** How many neighbours in the order of candidates are looked at together, beside first ones. */
const WINDOWS = [2, 4] as const;

/** The share of the node that its pods ask for, of the resource that is shortest there. */
function usedShare({ node, pods }: ConsolidationCandidate): number {
  const shares = MAIN_RESOURCES.map((name) => {
    const asked = pods.reduce((sum, { spec }) => sum + amountOf(spec.requests, name), 0);
    return asked / Math.max(1, amountOf(node.allocatable, name));
  });
  return Math.max(...shares);
}

const MAIN_RESOURCES = ['cpu', 'memory'] as const;

/**
 * Orders in which nodes are looked at: much money for few pods, few pods, and much money for what
 * nobody uses. None of them is the best everywhere.
 */
const ORDERS: readonly Compare[] = [
  most(({ pricePerHour, evictionCost }) => pricePerHour / (evictionCost + 1)),
  most(({ evictionCost }) => -evictionCost),
  most((candidate) => candidate.pricePerHour * (1 - usedShare(candidate))),
];

/** Fewer plans than this are not worth an order. */
const PLANS_MIN = 8;

const PLANS_MAX = 60;
const PLANS_LEAST = 6;
const NODES_PLANNED = 50_000;

/** How many plans one pass makes in a cluster of so many nodes: a plan takes longer with more. */
export function plansFor(nodes: number): number {
  return Math.min(PLANS_MAX, Math.max(PLANS_LEAST, Math.floor(NODES_PLANNED / nodes)));
}

/** First many that are worth most, then ever fewer: the best of these moves, if any pays back. */
function bestOfFirst(search: Search, order: readonly ConsolidationCandidate[]): Move | undefined {
  let best: Move | undefined;
  const all = search.withinBudgets(order);
  for (let size = all.length; size >= 2 && !search.isOver; size = Math.floor(size / 2)) {
    const found = search.try(all.slice(0, size));
    if (found !== undefined && found.gain > (best?.gain ?? 0)) best = found;
  }
  return best === undefined ? undefined : pruned(search, best);
}

/** Another turn begins with others, where there are more than may be looked at in one. */
function turned<Item>(items: readonly Item[], turn: number, atOnce: number): readonly Item[] {
  if (items.length <= atOnce) return items;
  const at = (turn * atOnce) % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

function neighboursOf(order: readonly ConsolidationCandidate[]) {
  return WINDOWS.flatMap((size) =>
    order.slice(0, order.length - size + 1).map((_, at) => order.slice(at, at + size)),
  );
}

/** What moves are judged by; undefined: pods wait for new nodes, and nothing is moved before. */
function contextOf(input: Consolidation): MoveContext | undefined {
  const { quiet, fallbacks, pools, scheduling, settings, usage } = input;
  const { snapshot: open, plan: now } = planAround(withAllWaiting(input.snapshot), (each) =>
    replan(each, scheduling),
  );
  if (now.newNodeClaims.length > 0) return undefined;
  const waiting = new Set(now.unplaced.keys());
  const snapshot = { ...open, closedNodes: quiet };
  return { snapshot, waiting, pools, scheduling, settings, usage, fallbacks };
}

const PENDING_FIRST = [reason('pending-pods-first', {})];

/** Whether the nodes may go together as things are now. */
export function reconsider(
  input: Consolidation,
  nodes: readonly ConsolidationCandidate[],
): Move | Refusal {
  const context = contextOf(input);
  if (context === undefined) return { kind: 'refusal', reasons: PENDING_FIRST };
  return moveOf(context, nodes);
}

/** What one order of the nodes comes to. */
function searched(
  input: Consolidation,
  context: MoveContext,
  order: readonly ConsolidationCandidate[],
  known: Consolidated['refusals'],
): Search {
  const search = new Search({ ...input, known }, context);
  const asked = order.find(({ claim }) => claim.name === input.asked);
  if (asked !== undefined) search.try([asked]);
  const first = bestOfFirst(search, order);
  const { turn, plansMax } = input;
  new BestFirst(search, order).run(first, turned(order, turn, plansMax - search.plans));
  for (const group of turned(neighboursOf(order), turn, plansMax - search.plans)) {
    if (search.isOver) break;
    if (!search.mayGo(group)) continue;
    const found = search.try(group);
    if (found !== undefined) search.offer(pruned(search, found));
  }
  return search;
}

/**
 * The moves that pay back: nodes whose pods fit on others, or on cheaper new ones, so much cheaper
 * that evicting them is worth it. Nothing is moved while pods wait for new nodes. Of what the
 * orders come to the moves are made that save most; where few plans may be made, each turn begins
 * with another order.
 */
export function consolidate(input: Consolidation): Consolidated {
  const { candidates, plansMax, turn } = input;
  const nothing = { moves: [], refusals: new Map(), plans: 0, isExhausted: true };
  if (candidates.length === 0) return nothing;
  const context = contextOf(input);
  if (context === undefined) {
    const refusals = new Map(candidates.map((each) => [keyOf([each]), PENDING_FIRST]));
    return { ...nothing, refusals, plans: 1 };
  }
  const isFew = plansMax < ORDERS.length * PLANS_MIN;
  const from = isFew ? turn % ORDERS.length : 0;
  let known = input.known;
  let best: Search | undefined;
  // What there is now takes a plan, too.
  let plans = 1;
  let isExhausted = true;
  for (const compare of [...ORDERS.slice(from), ...ORDERS.slice(0, from)]) {
    const own = isFew ? plansMax - plans : Math.floor((plansMax - 1) / ORDERS.length);
    if (own <= 0 || (isFew && (best?.moves.length ?? 0) > 0)) {
      isExhausted = false;
      break;
    }
    const each = { ...input, plansMax: own };
    const search = searched(each, context, candidates.toSorted(compare), known);
    plans += search.plans;
    isExhausted &&= !search.isOver;
    known = search.before;
    if (best === undefined || search.gain > best.gain) best = search;
  }
  return { moves: best?.moves ?? [], refusals: known, plans, isExhausted };
}
