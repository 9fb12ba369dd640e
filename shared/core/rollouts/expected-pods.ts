import { HOSTNAME } from '../model/labels.ts';
import { isLive, isNewer, type LabelSelector, type Pod, type PodSpec } from '../model/pod.ts';
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
 * Whether all that a pod asks of others is to be on one node with pods like itself. Such pods are
 * all on one node of a plan: where it is made, nothing of what they ask for is left out.
 */
function isOnOneNode({ namespace, labels, spec }: Pod): boolean {
  const [term] = spec.podAffinity;
  if (term === undefined || selectorsOf(spec).length > 1) return false;
  const { topologyKey, namespaces, namespaceSelector, labelSelector, mismatchLabelKeys } = term;
  const isOwn = namespaceSelector === undefined && namespaces.every((each) => each === namespace);
  const isSelf = isOwn && mismatchLabelKeys.length === 0 && selects(labelSelector, labels);
  return topologyKey === HOSTNAME && isSelf;
}

/**
 * Whether a pod's place depends on other pods or on what is its own: what is left of a plan when
 * some of its nodes are not made might not be what such pods ask for.
 */
function isTied(pod: Pod): boolean {
  const { spec } = pod;
  if (spec.volumes.length + spec.hostPorts.length > 0) return true;
  return selectorsOf(spec).length > 0 && !isOnOneNode(pod);
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

/** Who has pods of each spec: their controllers' uids, undefined for pods without one. */
function ownersBySpec(pods: readonly Pod[]): ReadonlyMap<PodSpec, ReadonlySet<string | undefined>> {
  const owners = new Map<PodSpec, Set<string | undefined>>();
  for (const { spec, controller } of pods) {
    const known = owners.get(spec);
    if (known === undefined) owners.set(spec, new Set([controller?.uid]));
    else known.add(controller?.uid);
  }
  return owners;
}

/**
 * ReplicaSets whose pods wait, that with the newest pod first: those whose pods find no place wait
 * longest, and must not crowd out a rollout that begins. Left out: those whose pods depend on
 * others' or are what others' depend on, and those with pods that somebody holds back.
 */
export function waitingSets({ pods }: Pick<ClusterSnapshot, 'pods'>): readonly WaitingSet[] {
  const owned = pods.filter(({ controller }) => controller?.kind === 'ReplicaSet');
  const gated = owned.filter(({ spec }) => spec.hasSchedulingGates);
  const held = new Set(gated.map(({ controller }) => controller?.uid));
  const asking = [...ownersBySpec(pods)]
    .map(([spec, owners]) => ({ owners, selectors: selectorsOf(spec) }))
    .filter(({ selectors }) => selectors.length > 0);
  const isAskedFor = ({ uid, newest }: WaitingSet): boolean =>
    asking.some(
      ({ owners, selectors }) =>
        (owners.size > 1 || !owners.has(uid)) &&
        selectors.some((each) => selects(each, newest.labels)),
    );
  return [...setsOf(owned).values()]
    .filter(({ uid, newest }) => !held.has(uid) && !isTied(newest))
    .filter((set) => !isAskedFor(set))
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
