import { isPending } from '../core/lifecycle/planned-pods.ts';
import type { Plan, PlannedNodeClaim } from '../core/model/plan.ts';
import { type LabelSelector, type Pod, type PodSpec, podKey } from '../core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../core/model/snapshot.ts';
import { selects } from '../core/scheduling/problem/selectors.ts';
import { replan } from '../core/scheduling/replan.ts';
import type { Ports, ReplicaSetRef } from '../ports.ts';
import { attempt, type Failure } from './attempt.ts';

/**
 * kube-controller-manager makes 20 pods a second. Planned by themselves, the first pods of a large
 * rollout get nodes of a size that the whole would not get, and each batch rounds up anew. So pods
 * that a ReplicaSet has still to make are planned with those that are there, as expected pods,
 * which exist in that plan only. Nodes for expected pods alone are not made, and a plan that asks
 * more of the pods that are there than the beginning of a rollout is worth is not taken.
 */

/** ReplicaSets that are looked at; more of them are not worth the requests. */
const SETS_MAX = 20;
/** A rollout larger than this is planned in parts. */
const EXPECTED_MAX = 10_000;
/** Plans with expected pods: of all ReplicaSets, then without those that stood in the way. */
const PLANS_MAX = 2;

/** A ReplicaSet with pods that wait for a node. */
export interface WaitingSet extends ReplicaSetRef {
  /** Its newest pod that waits: those to come are like it. */
  readonly newest: Pod;
  /** Its pods that have a node or wait for one; kube-scheduler has yet to look at the others. */
  readonly made: number;
}

/** A NodeClaim that holds at least one pod that is there. */
export interface PartClaim extends PlannedNodeClaim {
  /** How many more pods it was planned for. */
  readonly expectedPods: number;
}

/** A plan for the pods that are there, made as a part of the whole that there will be. */
export interface PartPlan extends Plan {
  readonly newNodeClaims: readonly PartClaim[];
}

/** What a pod asks of other pods: their labels. */
function selectorsOf(spec: PodSpec): readonly (LabelSelector | undefined)[] {
  const terms = [
    ...spec.podAffinity,
    ...spec.podAntiAffinity,
    ...spec.preferredPodAffinity.map(({ term }) => term),
    ...spec.preferredPodAntiAffinity.map(({ term }) => term),
    ...spec.topologySpread,
  ];
  return terms.map(({ labelSelector }) => labelSelector);
}

/**
 * Whether a pod's place depends on other pods or on what is its own: what is left of a plan when
 * some of its nodes are not made might not be what such pods ask for.
 */
function isTied(spec: PodSpec): boolean {
  return selectorsOf(spec).length + spec.volumes.length + spec.hostPorts.length > 0;
}

function isNewer(a: Pod, b: Pod): boolean {
  return a.createdAtMs === b.createdAtMs ? a.uid > b.uid : a.createdAtMs > b.createdAtMs;
}

/** ReplicaSets with pods that wait, by uid, and how many pods each has made. */
function setsOf(pods: readonly Pod[]): ReadonlyMap<string, WaitingSet> {
  const sets = new Map<string, WaitingSet>();
  for (const pod of pods) {
    const { controller, namespace } = pod;
    if (controller === undefined || !isPending(pod) || !pod.unschedulable) continue;
    const { uid, name } = controller;
    const known = sets.get(uid);
    const newest = known === undefined || isNewer(pod, known.newest) ? pod : known.newest;
    sets.set(uid, { uid, name, namespace, newest, made: (known?.made ?? 0) + 1 });
  }
  for (const { controller, nodeName, phase, deletedAtMs } of pods) {
    const isOver = deletedAtMs !== undefined || phase === 'Succeeded' || phase === 'Failed';
    const set = sets.get(controller?.uid ?? '');
    if (set === undefined || nodeName === undefined || isOver) continue;
    sets.set(set.uid, { ...set, made: set.made + 1 });
  }
  return sets;
}

/**
 * ReplicaSets whose pods wait, that with the newest pod first: those whose pods find no place wait
 * longest, and must not crowd out a rollout that begins. Left out: those whose pods depend on
 * others or are what others depend on, and those with pods that somebody holds back.
 */
export function waitingSets({ pods }: Pick<ClusterSnapshot, 'pods'>): readonly WaitingSet[] {
  const owned = pods.filter(({ controller }) => controller?.kind === 'ReplicaSet');
  const gated = owned.filter(({ spec }) => spec.hasSchedulingGates);
  const held = new Set(gated.map(({ controller }) => controller?.uid));
  const selectors = [...new Set(pods.map(({ spec }) => spec))].flatMap(selectorsOf);
  return [...setsOf(owned).values()]
    .filter(({ uid, newest }) => !held.has(uid) && !isTied(newest.spec))
    .filter(({ newest }) => !selectors.some((each) => selects(each, newest.labels)))
    .sort((a, b) => (isNewer(a.newest, b.newest) ? -1 : 1))
    .slice(0, SETS_MAX);
}

/** The pods that are still to come, after all that are there. `wanted`: of each set, by its uid. */
export function expectedPods(
  sets: readonly WaitingSet[],
  wanted: ReadonlyMap<string, number>,
): readonly Pod[] {
  const pods: Pod[] = [];
  for (const { uid, name, made, newest } of sets) {
    const missing = Math.min((wanted.get(uid) ?? 0) - made, EXPECTED_MAX - pods.length);
    for (let index = 0; index < missing; index += 1) {
      const number = String(index).padStart(5, '0');
      pods.push({
        ...newest,
        // No pod can have such a name.
        name: `${name}#${number}`,
        uid: `${uid}#${number}`,
        createdAtMs: Number.MAX_SAFE_INTEGER,
        nominatedNodeName: undefined,
      });
    }
  }
  return pods;
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

/** A plan, and the pods that it expected. */
export interface Rollouts {
  readonly plan: PartPlan;
  readonly expected: readonly Pod[];
}

/** Plans for what waits and what ReplicaSets have still to make. */
export async function planRollouts(
  { cluster }: Ports,
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  failures: Failure[],
): Promise<Rollouts> {
  const sets = waitingSets(snapshot);
  let wanted: ReadonlyMap<string, number> = new Map();
  if (sets.length > 0) {
    const read = async (): Promise<void> => {
      wanted = await cluster.wantedPods(sets);
    };
    failures.push(...(await attempt('ReplicaSets', read)));
  }
  const expected = expectedPods(sets, wanted);
  return { plan: planWhole(snapshot, settings, expected), expected };
}
