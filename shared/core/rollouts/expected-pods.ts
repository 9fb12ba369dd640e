import { isLive, type LabelSelector, type Pod, type PodSpec } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { isWaiting } from '../nomination/planned-pods.ts';
import { selects } from '../scheduling/problem/selectors.ts';

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

/** A ReplicaSet with pods that wait for a node. */
export interface WaitingSet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Its newest pod that waits: those to come are like it. */
  readonly newest: Pod;
  /** Its pods that have a node or wait for one; kube-scheduler has yet to look at the others. */
  readonly made: number;
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
    if (controller === undefined || !isWaiting(pod)) continue;
    const { uid, name } = controller;
    const known = sets.get(uid);
    const newest = known === undefined || isNewer(pod, known.newest) ? pod : known.newest;
    sets.set(uid, { uid, name, namespace, newest, made: (known?.made ?? 0) + 1 });
  }
  for (const pod of pods) {
    const set = sets.get(pod.controller?.uid ?? '');
    if (set === undefined || pod.nodeName === undefined || !isLive(pod)) continue;
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
