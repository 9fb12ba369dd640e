import { isEmpty, isMoving } from '../disruption/candidates.ts';
import type { Usage } from '../disruption/consolidation/payback.ts';
import { startingNodes, withLeaving } from '../disruption/simulation.ts';
import { INSTANCE_TYPE, SPOT } from '../model/labels.ts';
import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { type FirstFitPlan, firstFit } from '../scheduling/first-fit/first-fit.ts';
import { consolidatable, isIdle } from './candidates.ts';
import { carriedOut, type Rest } from './cluster-at-rest.ts';

/** Nodes that multi-node consolidation looks at together. */
const TOGETHER_MAX = 100;

/** What a way of deciding goes by. */
export interface WayInput {
  readonly snapshot: ClusterSnapshot;
  readonly scheduling: SchedulingSettings;
  readonly nowMs: number;
  /** At most so many plans are made after the first. */
  readonly plansMax: number;
}

/** Where a way of deciding comes to rest. */
export interface WayResult extends Rest {
  /** The plan for the pods that waited. */
  readonly plan: FirstFitPlan;
  readonly plans: number;
  /** Nothing more was to be found; false: the plans were used up before. */
  readonly isExhausted: boolean;
}

/** Looks for what nodes can go or be replaced, by Karpenter's rules. */
class Search {
  rest: Rest;
  plans = 0;
  private readonly input: WayInput;

  constructor(input: WayInput, rest: Rest) {
    this.input = input;
    this.rest = rest;
  }

  get isSpent(): boolean {
    return this.plans >= this.input.plansMax;
  }

  /** Carries one command out: empty nodes, else several nodes, else one; false: there is none. */
  step(): boolean {
    const all = consolidatable(this.rest.snapshot, this.input.nowMs);
    const empty = all.filter(isIdle);
    if (empty.length > 0) {
      this.rest = carriedOut(this.rest, { newNodeClaims: [], existing: [] }, namesOf(empty));
      return true;
    }
    const order = all.filter((each) => !isEmpty(each)).toSorted(byWorth);
    return this.several(order.slice(0, TOGETHER_MAX)) || order.some((each) => this.take([each]));
  }

  /** As many of the first as can go together, found by halving. */
  private several(order: readonly Usage[]): boolean {
    let [least, most] = [2, order.length];
    let best: { readonly nodes: readonly Usage[]; readonly plan: FirstFitPlan } | undefined;
    while (least <= most && !this.isSpent) {
      const count = (least + most) >> 1;
      const nodes = order.slice(0, count);
      const plan = this.planWithout(nodes);
      if (plan === undefined) most = count - 1;
      else {
        best = { nodes, plan };
        least = count + 1;
      }
    }
    if (best === undefined) return false;
    this.rest = carriedOut(this.rest, best.plan, namesOf(best.nodes));
    return true;
  }

  private take(nodes: readonly Usage[]): boolean {
    if (this.isSpent) return false;
    const plan = this.planWithout(nodes);
    if (plan === undefined) return false;
    this.rest = carriedOut(this.rest, plan, namesOf(nodes));
    return true;
  }

  /** Where the nodes' pods would go, if that is allowed and cheaper. */
  private planWithout(nodes: readonly Usage[]): FirstFitPlan | undefined {
    this.plans += 1;
    const { snapshot } = this.rest;
    const without = nodes.reduce((each, { node }) => withLeaving(each, node.name), snapshot);
    const plan = firstFit(without, this.input.scheduling);
    const moving = new Set(nodes.flatMap(({ pods }) => pods.filter(isMoving)).map(podKey));
    const starting = startingNodes(without);
    const placed = new Set([...plan.newNodeClaims, ...plan.existing].flatMap(({ pods }) => pods));
    if ([...moving].some((pod) => !placed.has(pod))) return undefined;
    if (plan.existing.some(({ node, pods }) => starting.has(node) && pods.length > 0)) {
      return undefined;
    }
    return isWorth(nodes, plan.newNodeClaims) ? plan : undefined;
  }
}

/** Much money for few evictions first. */
function byWorth(a: Usage, b: Usage): number {
  const worth = (each: Usage) => each.pricePerHour / (each.evictionCost + 1);
  return worth(b) - worth(a) || (a.claim.name < b.claim.name ? -1 : 1);
}

function namesOf(nodes: readonly Usage[]): ReadonlySet<string> {
  return new Set(nodes.map(({ node }) => node.name));
}

/** At most one node instead, cheaper than all that go; no spot node for spot nodes. */
function isWorth(nodes: readonly Usage[], claims: FirstFitPlan['newNodeClaims']): boolean {
  const [claim, second] = claims;
  if (claim === undefined) return true;
  if (second !== undefined) return false;
  const { chosen } = claim;
  if (chosen.capacityType === SPOT && nodes.every(({ isSpot }) => isSpot)) return false;
  const before = nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  if (chosen.price >= before - 1e-9) return false;
  // One of the nodes would be made anew at the same price: then the others alone should go.
  return nodes.every(
    ({ claim: { labels }, pricePerHour }) =>
      labels[INSTANCE_TYPE] !== chosen.type || chosen.price < pricePerHour,
  );
}

/**
 * Where the cluster comes to rest by Karpenter's published rules: what waits is placed first fit,
 * then empty nodes go, then several nodes at once or one, replaced by at most one cheaper node,
 * until nothing more is found.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export function karpentersWay(input: WayInput): WayResult {
  const { snapshot, scheduling } = input;
  const plan = firstFit(snapshot, scheduling);
  const start: Rest = { snapshot, made: 0, evictions: 0, removed: 0 };
  const first = carriedOut(start, plan);
  if (snapshot.nodes.length === 0) return { ...first, plan, plans: 0, isExhausted: true };
  const search = new Search(input, first);
  while (!search.isSpent && search.step());
  return { ...search.rest, plan, plans: search.plans, isExhausted: !search.isSpent };
}
