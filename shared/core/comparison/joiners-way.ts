import { isEmpty, unevictableBy } from '../disruption/candidates.ts';
import { consolidate, plansFor } from '../disruption/consolidation/consolidate.ts';
import type { ConsolidationSettings, PoolUse } from '../disruption/consolidation/payback.ts';
import { type ConsolidationCandidate, disruptionOf } from '../disruption/consolidation/payback.ts';
import type { Consolidation } from '../disruption/consolidation/search.ts';
import { notNeeded } from '../disruption/emptiness.ts';
import type { Plan } from '../model/plan.ts';
import { replan } from '../scheduling/replan.ts';
import { consolidatable, isIdle } from './candidates.ts';
import { candidatesOf, carriedOut, type Rest, restOf } from './cluster-at-rest.ts';
import type { WayInput, WayResult } from './karpenters-way.ts';

export interface JoinersWayResult extends WayResult {
  readonly plan: Plan;
}

function poolUses(nodes: readonly ConsolidationCandidate[]): ReadonlyMap<string, PoolUse> {
  const byPool = Map.groupBy(nodes, ({ pool }) => pool.name);
  const sum = (
    own: readonly ConsolidationCandidate[],
    of: (each: ConsolidationCandidate) => number,
  ) => own.reduce((all, each) => all + of(each), 0);
  return new Map(
    [...byPool].map(([name, own]) => [
      name,
      { pricePerHour: sum(own, (each) => each.pricePerHour), disruption: sum(own, disruptionOf) },
    ]),
  );
}

/** Consolidation turn by turn, with what is known of groups of nodes that stay as they are. */
class Turns {
  rest: Rest;
  plans = 0;
  private known: Consolidation['known'] = new Map();
  private turn = 0;
  private readonly input: WayInput;
  private readonly settings: ConsolidationSettings;

  constructor(input: WayInput, settings: ConsolidationSettings, rest: Rest) {
    this.input = input;
    this.settings = settings;
    this.rest = rest;
  }

  get isSpent(): boolean {
    return this.plans >= this.input.plansMax;
  }

  /** One turn; false: there is nothing more to find. */
  step(): boolean {
    const { scheduling, nowMs } = this.input;
    const { snapshot } = this.rest;
    const all = consolidatable(snapshot, nowMs);
    const empty = notNeeded(snapshot, all.filter(isIdle), scheduling);
    if (empty.length > 0) {
      const gone = new Set(empty.map(({ node }) => node.name));
      this.rest = carriedOut(this.rest, { newNodeClaims: [], existing: [] }, gone);
      this.known = new Map();
      return true;
    }
    return this.consolidated(all);
  }

  private consolidated(all: readonly ConsolidationCandidate[]): boolean {
    const { scheduling } = this.input;
    const { snapshot } = this.rest;
    const candidates = all.filter((each) => !isEmpty(each) && unevictableBy(each).length === 0);
    const input: Consolidation = {
      snapshot,
      candidates,
      allowance: new Map(snapshot.nodePools.map(({ name }) => [name, Number.POSITIVE_INFINITY])),
      nodesMax: Number.POSITIVE_INFINITY,
      pools: poolUses(candidatesOf(snapshot)),
      quiet: new Set(),
      scheduling,
      settings: this.settings,
      plansMax: plansFor(all.length),
      turn: this.turn,
      known: this.known,
    };
    const { moves, refusals, plans, isExhausted } = consolidate(input);
    this.plans += Math.max(1, plans);
    this.turn += 1;
    this.known = moves.length > 0 ? new Map() : refusals;
    for (const { nodes, replacements, elsewhere } of moves) {
      const existing = [...elsewhere].map(([pod, node]) => ({ node, pods: [pod] }));
      const gone = new Set(nodes.map(({ node }) => node.name));
      this.rest = carriedOut(this.rest, { newNodeClaims: replacements, existing }, gone);
    }
    return moves.length > 0 || !isExhausted;
  }
}

/**
 * Where the cluster comes to rest as Joiner decides: the plan for what waits, then what `disrupt`
 * removes and moves, turn by turn, until nothing more pays back.
 */
export function joinersWay(input: WayInput, settings: ConsolidationSettings): JoinersWayResult {
  const { snapshot, scheduling } = input;
  const plan = replan(snapshot, scheduling);
  const first = carriedOut(restOf(snapshot), plan);
  if (snapshot.nodes.length === 0) return { ...first, plan, plans: 0, isExhausted: true };
  const turns = new Turns(input, settings, first);
  while (!turns.isSpent && turns.step());
  return { ...turns.rest, plan, plans: turns.plans, isExhausted: !turns.isSpent };
}
