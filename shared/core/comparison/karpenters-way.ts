import { isEmpty, isReschedulable } from '../disruption/candidates.ts';
import { dearest } from '../disruption/consolidation/narrowing.ts';
import type { ConsolidationCandidate } from '../disruption/consolidation/payback.ts';
import { startingNodes, withLeaving } from '../disruption/simulation.ts';
import type { InstanceType } from '../model/instance-type.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, SPOT, ZONE } from '../model/labels.ts';
import type { OfferingChoice, PlannedNodeClaim } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { type FirstFitPlan, firstFit } from '../scheduling/first-fit/first-fit.ts';
import { consolidatable, isIdle } from './candidates.ts';
import { carriedOut, type Rest, restOf } from './cluster-at-rest.ts';

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

/** Nodes that go, where their pods go, and the node at most that replaces them. */
export interface RulesCommand {
  readonly nodes: readonly ConsolidationCandidate[];
  readonly plan: Pick<FirstFitPlan, 'newNodeClaims' | 'existing'>;
}

/** Looks for what nodes of a snapshot can go or be replaced, by Karpenter's rules. */
export class RulesSearch {
  /** Plans made so far. */
  plans = 0;
  private readonly input: Pick<WayInput, 'scheduling' | 'plansMax'>;

  constructor(input: Pick<WayInput, 'scheduling' | 'plansMax'>) {
    this.input = input;
  }

  get isSpent(): boolean {
    return this.plans >= this.input.plansMax;
  }

  /**
   * The next command: empty nodes, else several nodes, at most as many as budgets leave, else one;
   * undefined: there is none.
   */
  next(
    snapshot: ClusterSnapshot,
    candidates: readonly ConsolidationCandidate[],
    budget = TOGETHER_MAX,
  ): RulesCommand | undefined {
    const empty = candidates.filter(isIdle);
    if (empty.length > 0) return { nodes: empty, plan: { newNodeClaims: [], existing: [] } };
    const order = candidates.filter((each) => !isEmpty(each)).toSorted(byWorth);
    const several = this.several(snapshot, order.slice(0, Math.min(budget, TOGETHER_MAX)));
    if (several !== undefined) return several;
    for (const each of order) {
      const command = this.without(snapshot, [each]);
      if (command !== undefined) return command;
    }
    return undefined;
  }

  /** As many of the first as can go together, found by halving. */
  private several(
    snapshot: ClusterSnapshot,
    order: readonly ConsolidationCandidate[],
  ): RulesCommand | undefined {
    let [least, most] = [2, order.length];
    let best: RulesCommand | undefined;
    while (least <= most) {
      const count = (least + most) >> 1;
      const command = this.without(snapshot, order.slice(0, count));
      if (command === undefined) most = count - 1;
      else {
        best = command;
        least = count + 1;
      }
    }
    return best;
  }

  /** Where the nodes' pods would go, if that is allowed and cheaper. */
  private without(
    snapshot: ClusterSnapshot,
    nodes: readonly ConsolidationCandidate[],
  ): RulesCommand | undefined {
    if (this.isSpent) return undefined;
    this.plans += 1;
    const without = nodes.reduce((each, { node }) => withLeaving(each, node.name), snapshot);
    const plan = firstFit(without, this.input.scheduling);
    const moving = new Set(nodes.flatMap(({ pods }) => pods.filter(isReschedulable)).map(podKey));
    const starting = startingNodes(without);
    const placed = new Set([...plan.newNodeClaims, ...plan.existing].flatMap(({ pods }) => pods));
    if ([...moving].some((pod) => !placed.has(pod))) return undefined;
    if (plan.existing.some(({ node, pods }) => starting.has(node) && pods.length > 0)) {
      return undefined;
    }
    const [claim, second] = plan.newNodeClaims;
    if (claim === undefined) return { nodes, plan };
    const replacement = second === undefined ? cheaper(snapshot, nodes, claim) : undefined;
    return replacement && { nodes, plan: { ...plan, newNodeClaims: [replacement] } };
  }
}

/** Much money for few evictions first. */
function byWorth(a: ConsolidationCandidate, b: ConsolidationCandidate): number {
  const worth = (each: ConsolidationCandidate) => each.pricePerHour / (each.evictionCost + 1);
  return worth(b) - worth(a) || (a.claim.name < b.claim.name ? -1 : 1);
}

function namesOf(nodes: readonly ConsolidationCandidate[]): ReadonlySet<string> {
  return new Set(nodes.map(({ node }) => node.name));
}

function mayBeSpot({ requirements }: PlannedNodeClaim): boolean {
  return requirements.some(({ key, values }) => key === CAPACITY_TYPE && values.includes(SPOT));
}

/** USD an hour that all types of a replacement must stay below, whatever EC2 launches of them. */
function priceMax(nodes: readonly ConsolidationCandidate[], types: readonly string[]): number {
  const sum = nodes.reduce((all, { pricePerHour }) => all + pricePerHour, 0);
  if (nodes.length < 2) return sum;
  // One of the nodes would be made anew: then the others alone should go.
  const same = nodes.filter(({ claim }) => types.includes(claim.labels[INSTANCE_TYPE] ?? ''));
  return Math.min(sum, ...same.map(({ pricePerHour }) => pricePerHour));
}

/** The claim with the types that are cheaper at their worst; undefined: none is. */
function cheaper(
  { instanceTypes }: ClusterSnapshot,
  nodes: readonly ConsolidationCandidate[],
  claim: PlannedNodeClaim,
): PlannedNodeClaim | undefined {
  if (mayBeSpot(claim) && nodes.every(({ isSpot }) => isSpot)) return undefined;
  const types = instanceTypes.get(claim.nodePool) ?? [];
  const worst = dearest(claim, types);
  const below = (names: readonly string[], most: number) =>
    names.filter((name) => (worst.get(name) ?? Number.POSITIVE_INFINITY) < most - 1e-9);
  const affordable = below(claim.instanceTypes, priceMax(nodes, []));
  const kept = below(affordable, priceMax(nodes, affordable));
  const options = types
    .filter(({ name }) => kept.includes(name))
    .flatMap((type) => launchesOf(claim, type));
  const [chosen] = options.sort((a, b) => a.price - b.price || (a.type < b.type ? -1 : 1));
  return chosen === undefined ? undefined : { ...claim, instanceTypes: kept, chosen };
}

/** What the claim could be launched as, of one type and as the capacity type that was chosen. */
function launchesOf(
  { chosen, requirements }: PlannedNodeClaim,
  { name, offerings }: InstanceType,
): readonly OfferingChoice[] {
  const zones = requirements.find(({ key }) => key === ZONE)?.values ?? [];
  return offerings
    .filter(
      ({ zone, capacityType, available, reservation }) =>
        available &&
        capacityType === chosen.capacityType &&
        zones.includes(zone) &&
        reservation?.id === chosen.reservationId,
    )
    .map(({ zone, capacityType, price, listPrice }) => {
      return { ...chosen, type: name, zone, capacityType, price, listPrice };
    });
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
  const first = carriedOut(restOf(snapshot), plan);
  if (snapshot.nodes.length === 0) return { ...first, plan, plans: 0, isExhausted: true };
  const search = new RulesSearch(input);
  let rest = first;
  while (!search.isSpent) {
    const candidates = consolidatable(rest.snapshot, input.nowMs);
    const command = search.next(rest.snapshot, candidates);
    if (command === undefined) break;
    rest = carriedOut(rest, command.plan, namesOf(command.nodes));
  }
  return { ...rest, plan, plans: search.plans, isExhausted: !search.isSpent };
}
