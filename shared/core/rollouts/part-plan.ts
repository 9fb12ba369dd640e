import { planAround } from '../disruption/replaced.ts';
import type { Plan, PlannedNodeClaim } from '../model/plan.ts';
import { type Pod, podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { replan } from '../scheduling/replan.ts';

/** Plans with expected pods: of all ReplicaSets, then without those that stood in the way. */
const PLANS_MAX = 2;

/** A NodeClaim that holds at least one pod that is there. */
export interface PartClaim extends PlannedNodeClaim {
  /** How many more pods it was planned for. */
  readonly expectedPods: number;
}

/** A plan for the pods that are there, made as a part of the whole that there will be. */
export interface PartPlan extends Plan {
  readonly newNodeClaims: readonly PartClaim[];
}

/**
 * The plan of the whole, without expected pods and what is for them alone. A claim's requests stay
 * those of the whole, so that no smaller instance is launched for it; its score for preferences is
 * of the whole, too.
 */
function partOf(whole: Plan, isExpected: ReadonlySet<string>): PartPlan {
  const isReal = (pod: string): boolean => !isExpected.has(pod);
  const newNodeClaims = whole.newNodeClaims.flatMap((claim) => {
    const pods = claim.pods.filter(isReal);
    const expectedPods = claim.pods.length - pods.length;
    return pods.length === 0 && expectedPods > 0 ? [] : [{ ...claim, pods, expectedPods }];
  });
  const existing = whole.existing
    .map(({ node, pods }) => ({ node, pods: pods.filter(isReal) }))
    .filter(({ pods }) => pods.length > 0);
  return {
    ...whole,
    newNodeClaims,
    existing,
    ignored: new Map([...whole.ignored].filter(([pod]) => isReal(pod))),
    pricePerHour: newNodeClaims.reduce((sum, { chosen }) => sum + chosen.price, 0),
    listPricePerHour: newNodeClaims.reduce((sum, { chosen }) => sum + chosen.listPrice, 0),
  };
}

/** Whose pod each is, by pod key: its controller's, or its own. */
type Owners = ReadonlyMap<string, string>;

function ownersOf(pods: readonly Pod[]): Owners {
  return new Map(pods.map((pod) => [podKey(pod), pod.controller?.uid ?? podKey(pod)]));
}

/** By owner: the weights of the NodePools that its pods' nodes are of, heaviest first. */
function weightsOf(
  { newNodeClaims, existing }: Plan,
  owners: Owners,
  weightOf: (pool: string | undefined) => number,
): ReadonlyMap<string, readonly number[]> {
  const weights = new Map<string, number[]>();
  const add = (pods: readonly string[], weight: number): void => {
    for (const pod of pods) {
      const owner = owners.get(pod) ?? pod;
      const known = weights.get(owner);
      if (known === undefined) weights.set(owner, [weight]);
      else known.push(weight);
    }
  };
  for (const { nodePool, pods } of newNodeClaims) add(pods, weightOf(nodePool));
  for (const { pods } of existing) add(pods, weightOf(undefined));
  for (const each of weights.values()) each.sort((a, b) => b - a);
  return weights;
}

/**
 * Whether more of an owner's pods are launched in light NodePools than in the plan without expected
 * pods. A node that is there counts as one of the heaviest pool: nothing is launched for its pods.
 */
function isLighter(
  part: Plan,
  alone: Plan,
  { nodePools }: ClusterSnapshot,
  owners: Owners,
): boolean {
  const weights = new Map(nodePools.map(({ name, weight }) => [name, weight]));
  if (new Set(weights.values()).size < 2) return false;
  const heaviest = Math.max(...weights.values());
  const weightOf = (pool = ''): number => weights.get(pool) ?? heaviest;
  const found = weightsOf(part, owners, weightOf);
  return [...weightsOf(alone, owners, weightOf)].some(([owner, each]) =>
    each.some((weight, at) => (found.get(owner)?.[at] ?? weight) < weight),
  );
}

/**
 * What a plan may cost more for the pods that are still to come: of each ReplicaSet that has such
 * the dearest node on which some of its pods are, and pods to come beside them.
 */
function allowance(
  { newNodeClaims }: PartPlan,
  growing: ReadonlySet<string>,
  owners: Owners,
): number {
  const dearest = new Map<string, number>();
  for (const claim of newNodeClaims.filter(({ expectedPods }) => expectedPods > 0)) {
    for (const pod of claim.pods) {
      const owner = owners.get(pod) ?? '';
      const most = Math.max(dearest.get(owner) ?? 0, claim.chosen.price);
      if (growing.has(owner)) dearest.set(owner, most);
    }
  }
  return [...dearest.values()].reduce((sum, price) => sum + price, 0);
}

/** NodePools heavier than the lightest one that the plan launches in. */
function heavyPools(plan: Plan, { nodePools }: ClusterSnapshot): ReadonlySet<string> {
  const used = new Set(plan.newNodeClaims.map(({ nodePool }) => nodePool));
  const weights = nodePools.filter(({ name }) => used.has(name)).map(({ weight }) => weight);
  const least = Math.min(...weights);
  return new Set(nodePools.filter(({ weight }) => weight > least).map(({ name }) => name));
}

/**
 * ReplicaSets that stand in the way: those with expected pods left over, else those with expected
 * pods in the pools that are contested, or on a node that is to be made for pods of others alone.
 */
function misfits(
  whole: Plan,
  expected: Owners,
  owners: Owners,
  contested: ReadonlySet<string>,
): ReadonlySet<string> {
  const over = [...whole.unplaced.keys()].flatMap((pod) => expected.get(pod) ?? []);
  if (over.length > 0) return new Set(over);
  const found = whole.newNodeClaims.flatMap(({ nodePool, pods }) => {
    const hosts = new Set(pods.flatMap((pod) => owners.get(pod) ?? []));
    const ahead = pods.flatMap((pod) => expected.get(pod) ?? []);
    if (contested.has(nodePool)) return ahead;
    return hosts.size === 0 ? [] : ahead.filter((owner) => !hosts.has(owner));
  });
  return new Set(found);
}

/**
 * The plan for the pods that are there, as a part of that with the expected ones. It has a place
 * for each pod that has one in the plan without them, launches none in a lighter NodePool, and
 * costs more by no more than {@link allowance}. ReplicaSets in whose way that is are planned as
 * they stand; if that is not enough, all are.
 */
export function planWhole(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  expected: readonly Pod[],
): PartPlan {
  return planAround(snapshot, (each) => planOnce(each, settings, expected)).plan;
}

function planOnce(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  expected: readonly Pod[],
): PartPlan {
  const alone = partOf(replan(snapshot, settings), new Set());
  if (expected.length === 0) return alone;
  const owners = ownersOf(snapshot.pods);
  // Where a pod that is there has no place, those to come have none either.
  const left = new Set([...alone.unplaced.keys()].map((pod) => owners.get(pod)));
  let rest = expected.filter(({ controller }) => !left.has(controller?.uid));
  for (let plans = 0; plans < PLANS_MAX && rest.length > 0; plans += 1) {
    const whole = replan({ ...snapshot, pods: [...snapshot.pods, ...rest] }, settings);
    const awaited = ownersOf(rest);
    const part = partOf(whole, new Set(awaited.keys()));
    const most = alone.pricePerHour + allowance(part, new Set(awaited.values()), owners) + 1e-9;
    const isLoss = [...whole.unplaced.keys()].some((pod) => !alone.unplaced.has(pod));
    const isLight = isLighter(part, alone, snapshot, owners);
    if (!isLoss && !isLight && part.pricePerHour <= most) return part;
    const contested = isLight ? heavyPools(part, snapshot) : new Set<string>();
    const out = misfits(whole, awaited, owners, contested);
    rest = out.size === 0 ? [] : rest.filter(({ controller }) => !out.has(controller?.uid ?? ''));
  }
  return alone;
}
