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
 * which exist in that plan only. Nodes for expected pods alone are not made.
 */

/** ReplicaSets that are looked at; more of them are not worth the requests. */
const SETS_MAX = 20;
/** A rollout larger than this is planned in parts. */
const EXPECTED_MAX = 10_000;

/** A ReplicaSet with pods that wait for a node. */
export interface WaitingSet extends ReplicaSetRef {
  /** Its newest pod that waits: those to come are like it. */
  readonly newest: Pod;
  readonly waiting: number;
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
    const waiting = (known?.waiting ?? 0) + 1;
    sets.set(uid, { uid, name, namespace, newest, waiting, made: waiting });
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
 * ReplicaSets whose pods wait, those with most of them first. Left out: those whose pods depend on
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
    .sort((a, b) => b.waiting - a.waiting || (a.uid < b.uid ? -1 : 1))
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

/**
 * The plan for the pods that are there, as a part of that with the expected ones. Where the whole
 * has no place for each of those, or a pod that is there loses its place, they are left out.
 */
export function planWhole(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  expected: readonly Pod[],
): PartPlan {
  const alone = (): PartPlan => partOf(replan(snapshot, settings), new Set());
  if (expected.length === 0) return alone();
  const whole = replan({ ...snapshot, pods: [...snapshot.pods, ...expected] }, settings);
  const isExpected = new Set(expected.map(podKey));
  const unplaced = [...whole.unplaced.keys()];
  if (unplaced.length === 0) return partOf(whole, isExpected);
  const apart = alone();
  const isLoss = unplaced.some((pod) => !apart.unplaced.has(pod));
  return isLoss ? apart : partOf(whole, isExpected);
}

/** Plans for what waits and what ReplicaSets have still to make. */
export async function planRollouts(
  { cluster }: Ports,
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  failures: Failure[],
): Promise<PartPlan> {
  const sets = waitingSets(snapshot);
  let wanted: ReadonlyMap<string, number> = new Map();
  if (sets.length > 0) {
    const read = async (): Promise<void> => {
      wanted = await cluster.wantedPods(sets);
    };
    failures.push(...(await attempt('ReplicaSets', read)));
  }
  return planWhole(snapshot, settings, expectedPods(sets, wanted));
}
