import { CAPACITY_TYPE, INSTANCE_TYPE } from '../../model/labels.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { replan } from '../../scheduling/replan.ts';
import { withAllWaiting, withLeaving, withPlaces } from '../simulation.ts';
import { GainBound } from './bound.ts';
import { type Ground, type Move, moveOf, type Refusal } from './move.ts';
import type { ConsolidationSettings, PoolUse, Usage } from './payback.ts';

/** A cluster, and the nodes that may be consolidated now. */
export interface Consolidation {
  readonly snapshot: ClusterSnapshot;
  /** In any order. */
  readonly candidates: readonly Usage[];
  /** By the pool's name: how many nodes its budgets let go. */
  readonly allowance: ReadonlyMap<string, number>;
  /** Nodes of all pools together that may go now. */
  readonly nodesMax: number;
  readonly pools: ReadonlyMap<string, PoolUse>;
  /** Nodes by name that take no pods in for now. */
  readonly quiet: ReadonlySet<string>;
  readonly scheduling: SchedulingSettings;
  readonly settings: ConsolidationSettings;
  /** At most so many plans are made. */
  readonly plansMax: number;
  /** Where not all can be looked at, another turn begins with others. */
  readonly turn: number;
  /** What came of groups of nodes when the snapshot was the same, as {@link Consolidated} has it. */
  readonly known: ReadonlyMap<string, string>;
  /** The claim of a node about which somebody asks: why it stays is found out first. */
  readonly asked?: string | undefined;
}

export interface Consolidated {
  /** No node is part of two, none takes in pods of one and goes with another. */
  readonly moves: readonly Move[];
  /** Why groups of nodes stay, by the names of their claims with commas. */
  readonly refusals: ReadonlyMap<string, string>;
  /** Plans made. */
  readonly plans: number;
  /** All groups were looked at: as long as nothing changes there is nothing more to find. */
  readonly isExhausted: boolean;
}

/** Groups of neighbours in the order of candidates that are looked at beside first ones. */
const WINDOWS = [1, 2, 4] as const;

function keyOf(nodes: readonly Usage[]): string {
  return nodes
    .map(({ claim }) => claim.name)
    .sort()
    .join(',');
}

/** Much money for few pods first. */
function byWorth(a: Usage, b: Usage): number {
  const worth = (each: Usage) => each.pricePerHour / (each.evictionCost + 1);
  return worth(b) - worth(a) || (a.claim.name < b.claim.name ? -1 : 1);
}

/** Looks for moves that pay back, and remembers what was found. */
class Search {
  private readonly input: Consolidation;
  private readonly left: Map<string, number>;
  private ground: Ground;
  private readonly hosts = new Set<string>();
  private readonly gone = new Set<Usage>();
  private bound: GainBound;
  readonly moves: Move[] = [];
  readonly refusals: Map<string, string>;
  plans = 1;

  constructor(input: Consolidation, ground: Ground) {
    this.input = input;
    this.ground = ground;
    this.left = new Map(input.allowance);
    this.bound = new GainBound(ground.snapshot, input.quiet, input.settings);
    this.refusals = new Map(input.known);
  }

  /** What new nodes change, of limits and spreads, is left to the pass that finds them there. */
  get isOver(): boolean {
    const launches = this.moves.some(({ replacements }) => replacements.length > 0);
    return launches || this.plans >= this.input.plansMax;
  }

  /** Whether the node is still as it was, and may go or not. */
  private isFree(usage: Usage): boolean {
    return !this.gone.has(usage) && !this.hosts.has(usage.node.name);
  }

  /** Those of the nodes that budgets let go together. */
  withinBudgets(usages: readonly Usage[]): readonly Usage[] {
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
  try(nodes: readonly Usage[]): Move | undefined {
    const key = keyOf(nodes);
    if (this.refusals.has(key)) return undefined;
    if (this.bound.of(nodes) <= 0) {
      this.refusals.set(key, 'Its pods would not run so much cheaper elsewhere that it pays back');
      return undefined;
    }
    const found = moveOf(this.ground, nodes, () => {
      this.plans += 1;
    });
    if (found.kind === 'move') return found;
    this.refusals.set(key, found.message);
    return undefined;
  }

  /** The move is made: what it needs is nobody else's. */
  take(move: Move): void {
    const { snapshot } = this.ground;
    for (const host of move.elsewhere.values()) this.hosts.add(host);
    for (const usage of move.nodes) {
      this.gone.add(usage);
      this.left.set(usage.pool.name, (this.left.get(usage.pool.name) ?? 0) - 1);
    }
    this.moves.push(move);
    const without = move.nodes.reduce((each, { node }) => withLeaving(each, node.name), snapshot);
    this.ground = { ...this.ground, snapshot: withPlaces(without, move.elsewhere) };
    const { quiet, settings } = this.input;
    this.bound = new GainBound(this.ground.snapshot, quiet, settings);
  }
}

/** Nodes of which the move launches the like again, dearest to empty first. */
function launchedAgain({ nodes, replacements }: Move): readonly Usage[] {
  const made = new Set(replacements.map(({ chosen }) => `${chosen.type} ${chosen.capacityType}`));
  const kindOf = ({ claim: { labels } }: Usage) =>
    `${labels[INSTANCE_TYPE]} ${labels[CAPACITY_TYPE]}`;
  return nodes
    .filter((usage) => made.has(kindOf(usage)))
    .toSorted((a, b) => b.evictionCost - a.evictionCost || byWorth(a, b));
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
function bestOfFirst(search: Search, order: readonly Usage[]): Move | undefined {
  let best: Move | undefined;
  const all = search.withinBudgets(order);
  for (let size = all.length; size >= 2 && !search.isOver; size = Math.floor(size / 2)) {
    const found = search.try(all.slice(0, size));
    if (found !== undefined && found.gain > (best?.gain ?? 0)) best = found;
  }
  return best === undefined ? undefined : pruned(search, best);
}

/** Each by itself, then with its neighbours, until there were as many plans as may be made. */
function groupsOf(order: readonly Usage[], turn: number, atOnce: number) {
  const groups = WINDOWS.flatMap((size) =>
    order.slice(0, order.length - size + 1).map((_, at) => order.slice(at, at + size)),
  );
  if (groups.length <= atOnce || atOnce <= 0) return groups;
  const at = (turn * atOnce) % groups.length;
  return [...groups.slice(at), ...groups.slice(0, at)];
}

/** What moves are judged by; undefined: pods wait for new nodes, and nothing is moved before. */
function groundOf(input: Consolidation): Ground | undefined {
  const { quiet, pools, scheduling, settings } = input;
  const snapshot = withAllWaiting(input.snapshot);
  const now = replan(snapshot, scheduling);
  if (now.newNodeClaims.length > 0) return undefined;
  const waiting = new Set(now.unplaced.keys());
  return { snapshot, waiting, quiet, pools, scheduling, settings };
}

/** Whether the nodes may go together as things are now. */
export function reconsider(input: Consolidation, nodes: readonly Usage[]): Move | Refusal {
  const ground = groundOf(input);
  if (ground === undefined) return { kind: 'refusal', message: 'Pods wait for new nodes' };
  return moveOf(ground, nodes);
}

/**
 * The moves that pay back: nodes whose pods fit on others, or on cheaper new ones, so much cheaper
 * that evicting them is worth it. Nothing is moved while pods wait for new nodes.
 */
export function consolidate(input: Consolidation): Consolidated {
  const { candidates, plansMax, turn } = input;
  const order = candidates.toSorted(byWorth);
  const ground = order.length === 0 ? undefined : groundOf(input);
  if (ground === undefined) {
    return { moves: [], refusals: new Map(), plans: order.length && 1, isExhausted: true };
  }
  const search = new Search(input, ground);
  const asked = order.find(({ claim }) => claim.name === input.asked);
  if (asked !== undefined) search.try([asked]);
  const first = bestOfFirst(search, order);
  if (first !== undefined) search.take(first);
  for (const group of groupsOf(order, turn, plansMax - search.plans)) {
    if (search.isOver) break;
    if (search.withinBudgets(group).length < group.length) continue;
    const found = search.try(group);
    if (found !== undefined) search.take(pruned(search, found));
  }
  const { moves, refusals, plans, isOver } = search;
  return { moves, refusals, plans, isExhausted: !isOver };
}
