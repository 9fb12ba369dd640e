import { type Reason, reason } from '../../explain/reason.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE } from '../../model/labels.ts';
import { amountOf } from '../../model/resources.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { replan } from '../../scheduling/replan.ts';
import { withAllWaiting } from '../simulation.ts';
import { GainBound } from './bound.ts';
import {
  lookAt,
  type Move,
  type MoveContext,
  moveOf,
  type Refusal,
  snapshotAfter,
} from './move.ts';
import type { ConsolidationCandidate, ConsolidationSettings, PoolUse } from './payback.ts';
import type { MeteredUsage } from './usage-guard.ts';

/** A cluster, and the nodes that may be consolidated now. */
export interface Consolidation {
  readonly snapshot: ClusterSnapshot;
  /** In any order. */
  readonly candidates: readonly ConsolidationCandidate[];
  /** By the pool's name: how many nodes its budgets let go. */
  readonly allowance: ReadonlyMap<string, number>;
  /** Nodes of all pools together that may go now. */
  readonly nodesMax: number;
  readonly pools: ReadonlyMap<string, PoolUse>;
  /** Nodes by name that take no pods in for now. */
  readonly quiet: ReadonlySet<string>;
  /** Nodes by name that return to what is tried first where they can; absent: none does. */
  readonly fallbacks?: ReadonlySet<string> | undefined;
  readonly scheduling: SchedulingSettings;
  readonly settings: ConsolidationSettings;
  /** What pods use; absent: nobody has asked, as no NodePool has a guard on it. */
  readonly usage?: MeteredUsage | undefined;
  /** At most so many plans are made, by all orders together. */
  readonly plansMax: number;
  /** Where not all can be looked at, another turn begins with others. */
  readonly turn: number;
  /** What came of groups of nodes when the snapshot was the same, as {@link Consolidated} has it. */
  readonly known: Consolidated['refusals'];
  /** The claim of a node about which somebody asks: why it stays is found out first. */
  readonly asked?: string | undefined;
}

export interface Consolidated {
  /** No node is part of two, none takes in pods of one and goes with another. */
  readonly moves: readonly Move[];
  /** Why groups of nodes stay, by the names of their claims with commas. */
  readonly refusals: ReadonlyMap<string, readonly Reason[]>;
  /** Plans made. */
  readonly plans: number;
  /** All groups were looked at: as long as nothing changes there is nothing more to find. */
  readonly isExhausted: boolean;
}

/** Groups of neighbours in the order of candidates that are looked at beside first ones. */
const WINDOWS = [1, 2, 4] as const;

function keyOf(nodes: readonly ConsolidationCandidate[]): string {
  return nodes
    .map(({ claim }) => claim.name)
    .sort()
    .join(',');
}

type Compare = (a: ConsolidationCandidate, b: ConsolidationCandidate) => number;

/** The most of what is counted first. */
function most(of: (usage: ConsolidationCandidate) => number): Compare {
  return (a, b) => of(b) - of(a) || (a.claim.name < b.claim.name ? -1 : 1);
}

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
  most((usage) => usage.pricePerHour * (1 - usedShare(usage))),
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

/** Looks for moves that pay back, and remembers what was found. */
class Search {
  private readonly input: Consolidation;
  private readonly left: Map<string, number>;
  private context: MoveContext;
  private readonly hosts = new Set<string>();
  private readonly gone = new Set<ConsolidationCandidate>();
  private bound: GainBound;
  readonly moves: Move[] = [];
  readonly refusals: Map<string, readonly Reason[]>;
  /** The refusals as long as nothing was moved. */
  before: Consolidated['refusals'];
  plans = 0;

  constructor(input: Consolidation, context: MoveContext) {
    this.input = input;
    this.context = context;
    this.left = new Map(input.allowance);
    this.bound = new GainBound(context.snapshot, input.quiet, input);
    this.refusals = new Map(input.known);
    this.before = this.refusals;
  }

  /** What new nodes change, of limits and spreads, is left to the pass that finds them there. */
  get isOver(): boolean {
    const launches = this.moves.some(({ replacements }) => replacements.length > 0);
    return launches || this.plans >= this.input.plansMax;
  }

  /** USD that the moves have saved at the horizon. */
  get gain(): number {
    return this.moves.reduce((sum, { gain }) => sum + gain, 0);
  }

  /** Whether the node is still as it was, and may go or not. */
  private isFree(usage: ConsolidationCandidate): boolean {
    return !this.gone.has(usage) && !this.hosts.has(usage.node.name);
  }

  /** Those of the nodes that budgets let go together. */
  withinBudgets(usages: readonly ConsolidationCandidate[]): readonly ConsolidationCandidate[] {
    const left = new Map(this.left);
    let most = this.input.nodesMax - this.gone.size;
    return usages.filter((usage) => {
      const own = left.get(usage.pool.name) ?? 0;
      if (most <= 0 || own <= 0 || !this.isFree(usage)) return false;
      left.set(usage.pool.name, own - 1);
      most -= 1;
      return true;
    });
  }

  /** Undefined: it is known, or clear without a plan, that the nodes stay. */
  try(nodes: readonly ConsolidationCandidate[]): Move | undefined {
    const key = keyOf(nodes);
    if (this.refusals.has(key)) return undefined;
    const { saving, gain } = this.bound.of(nodes);
    if (gain <= 0) {
      const closed = this.context.snapshot.closedNodes?.size ?? 0;
      const why =
        saving > 0 ? reason('saving-too-small', {}) : reason('pods-not-cheaper', { closed });
      this.refusals.set(key, [why]);
      return undefined;
    }
    const isFirst = this.plans === 0;
    const look = lookAt(this.context, nodes, this.input.plansMax - this.plans);
    this.plans += look.plans;
    if (look.found.kind === 'move') return look.found;
    // A later pass has all its plans for them; what these leave open is not looked at for ever.
    if (isFirst || !look.isCutShort) this.refusals.set(key, look.found.reasons);
    return undefined;
  }

  /**
   * Takes the move where it goes with those that are made. One that launches is carried out a
   * minute after them: by then their pods may have taken the room that it counts on, as
   * kube-scheduler knows nothing of their places. The next pass finds it by where they are.
   */
  offer(move: Move): void {
    if (this.moves.length === 0 || move.replacements.length === 0) this.take(move);
  }

  /** The move is made: what it needs is nobody else's. */
  take(move: Move): void {
    const { snapshot } = this.context;
    if (this.moves.length === 0) this.before = new Map(this.refusals);
    for (const host of move.elsewhere.values()) this.hosts.add(host);
    for (const usage of move.nodes) {
      this.gone.add(usage);
      this.left.set(usage.pool.name, (this.left.get(usage.pool.name) ?? 0) - 1);
    }
    this.moves.push(move);
    this.context = { ...this.context, snapshot: snapshotAfter(snapshot, move) };
    this.bound = new GainBound(this.context.snapshot, this.input.quiet, this.input);
  }
}

/** Nodes of which the move launches the like again, dearest to empty first. */
function launchedAgain({ nodes, replacements }: Move): readonly ConsolidationCandidate[] {
  const made = new Set(replacements.map(({ chosen }) => `${chosen.type} ${chosen.capacityType}`));
  const kindOf = ({ claim: { labels } }: ConsolidationCandidate) =>
    `${labels[INSTANCE_TYPE]} ${labels[CAPACITY_TYPE]}`;
  return nodes
    .filter((usage) => made.has(kindOf(usage)))
    .toSorted(most(({ evictionCost }) => evictionCost));
}

/** The same move without nodes of which it would launch the like again, as long as that is better. */
function pruned(search: Search, move: Move): Move {
  let best = move;
  let again = launchedAgain(best);
  while (again.length > 0 && best.nodes.length > 1 && !search.isOver) {
    const [kept] = again;
    const found = search.try(best.nodes.filter((each) => each !== kept));
    if (found !== undefined && found.gain > best.gain) {
      best = found;
      again = launchedAgain(best);
    } else {
      again = again.slice(1);
    }
  }
  return best;
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

/** Each by itself, then with its neighbours, until there were as many plans as may be made. */
function groupsOf(order: readonly ConsolidationCandidate[], turn: number, atOnce: number) {
  const groups = WINDOWS.flatMap((size) =>
    order.slice(0, order.length - size + 1).map((_, at) => order.slice(at, at + size)),
  );
  if (groups.length <= atOnce) return groups;
  const at = (turn * atOnce) % groups.length;
  return [...groups.slice(at), ...groups.slice(0, at)];
}

/** What moves are judged by; undefined: pods wait for new nodes, and nothing is moved before. */
function contextOf(input: Consolidation): MoveContext | undefined {
  const { quiet, fallbacks, pools, scheduling, settings, usage } = input;
  const open = withAllWaiting(input.snapshot);
  const now = replan(open, scheduling);
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
  if (first !== undefined) search.take(first);
  for (const group of groupsOf(order, input.turn, input.plansMax - search.plans)) {
    if (search.isOver) break;
    if (search.withinBudgets(group).length < group.length) continue;
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
