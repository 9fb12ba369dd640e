import { type Reason, reason } from '../../explain/reason.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { GainBound } from './bound.ts';
import { lookAt, type Move, type MoveContext, snapshotAfter } from './move.ts';
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

export type Compare = (a: ConsolidationCandidate, b: ConsolidationCandidate) => number;

/** The most of what is counted first. */
export function most(of: (candidate: ConsolidationCandidate) => number): Compare {
  return (a, b) => of(b) - of(a) || (a.claim.name < b.claim.name ? -1 : 1);
}

/** The name of a group of nodes: those of their claims, with commas. */
export function keyOf(nodes: readonly ConsolidationCandidate[]): string {
  return nodes
    .map(({ claim }) => claim.name)
    .sort()
    .join(',');
}

/** Looks for moves that pay back, and remembers what was found. */
export class Search {
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
  private isFree(candidate: ConsolidationCandidate): boolean {
    return !this.gone.has(candidate) && !this.hosts.has(candidate.node.name);
  }

  /** Those of the nodes that budgets let go together. */
  withinBudgets(candidates: readonly ConsolidationCandidate[]): readonly ConsolidationCandidate[] {
    const left = new Map(this.left);
    let most = this.input.nodesMax - this.gone.size;
    return candidates.filter((candidate) => {
      const own = left.get(candidate.pool.name) ?? 0;
      if (most <= 0 || own <= 0 || !this.isFree(candidate)) return false;
      left.set(candidate.pool.name, own - 1);
      most -= 1;
      return true;
    });
  }

  /** Whether the nodes are as they were, and budgets let them go together. */
  mayGo(nodes: readonly ConsolidationCandidate[]): boolean {
    return this.withinBudgets(nodes).length === nodes.length;
  }

  /** USD that doing without the nodes can have saved at the horizon, at most; 0: they stay. */
  gainMost(nodes: readonly ConsolidationCandidate[]): number {
    const key = keyOf(nodes);
    if (this.refusals.has(key)) return 0;
    const { saving, gain } = this.bound.of(nodes);
    if (gain > 0) return gain;
    const closed = this.context.snapshot.closedNodes?.size ?? 0;
    const why =
      saving > 0 ? reason('saving-too-small', {}) : reason('pods-not-cheaper', { closed });
    this.refusals.set(key, [why]);
    return 0;
  }

  /** Undefined: it is known, or clear without a plan, that the nodes stay. */
  try(nodes: readonly ConsolidationCandidate[]): Move | undefined {
    if (this.gainMost(nodes) <= 0) return undefined;
    const isFirst = this.plans === 0;
    const look = lookAt(this.context, nodes, this.input.plansMax - this.plans);
    this.plans += look.plans;
    if (look.found.kind === 'move') return look.found;
    // A later pass has all its plans for them; what these leave open is not looked at for ever.
    if (isFirst || !look.isCutShort) this.refusals.set(keyOf(nodes), look.found.reasons);
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
    for (const candidate of move.nodes) {
      this.gone.add(candidate);
      this.left.set(candidate.pool.name, (this.left.get(candidate.pool.name) ?? 0) - 1);
    }
    this.moves.push(move);
    this.context = { ...this.context, snapshot: snapshotAfter(snapshot, move) };
    this.bound = new GainBound(this.context.snapshot, this.input.quiet, this.input);
  }
}
