import { isTrue } from '../lifecycle/conditions.ts';
import { nodeOfClaim } from '../model/joins.ts';
import type { Plan } from '../model/plan.ts';
import { isOver, type Pod, podKey } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { fitsResources, type Resources, subtractResources } from '../model/resources.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { untoleratedTaint } from '../model/taint.ts';
import { isPending, plannedPods } from '../nomination/planned-pods.ts';
import { type StateNode, stateNodes } from './problem/state-node.ts';
import { solved } from './solve.ts';

/** Where earlier plans have put pods that still wait: the node's name by pod. */
type KeptPlacements = ReadonlyMap<Pod, string>;

/** A claim whose node may still get the pods that it was planned for. */
function isStarting(claim: NodeClaim): boolean {
  return claim.deletedAtMs === undefined && !isTrue(claim, 'Initialized');
}

/** The claims that still start, each with the pending pods that it was planned for. */
function startingClaims({ nodeClaims, pods }: ClusterSnapshot) {
  const naming = nodeClaims.filter((claim) => isStarting(claim) && plannedPods(claim).length > 0);
  if (naming.length === 0) return [];
  const pending = new Map(pods.filter(isPending).map((pod) => [pod.uid, pod]));
  return naming
    .map((claim) => ({ claim, pods: plannedPods(claim).flatMap((uid) => pending.get(uid) ?? []) }))
    .filter((each) => each.pods.length > 0)
    .sort((a, b) => (a.claim.name < b.claim.name ? -1 : 1));
}

/** What is free on nodes, by name; room for DaemonSets that are to come is not taken off. */
function freeResources(
  snapshot: ClusterSnapshot,
  nodes: readonly StateNode[],
): Map<string, Resources> {
  const free = new Map(nodes.map(({ name, allocatable }) => [name, allocatable]));
  for (const pod of snapshot.pods) {
    const room = free.get(pod.nodeName ?? '');
    if (room === undefined || isOver(pod)) continue;
    free.set(pod.nodeName ?? '', subtractResources(room, pod.spec.requests));
  }
  return free;
}

/**
 * Pods stay where an earlier plan has put them as long as the node is not open, and after that
 * while they are nominated to it and tolerate it: kube-scheduler takes most nominations away that
 * came to nothing, though not those of pods that never preempt.
 */
function keptPods(snapshot: ClusterSnapshot): KeptPlacements {
  const kept = new Map<Pod, string>();
  const starting = startingClaims(snapshot);
  if (starting.length === 0) return kept;
  const nodes = stateNodes(snapshot).filter(({ isLeaving }) => !isLeaving);
  const free = freeResources(snapshot, nodes);
  const taints = new Map(nodes.map((each) => [each.name, each.taints]));
  for (const { claim, pods } of starting) {
    const own = nodeOfClaim(snapshot.nodes, claim)?.name;
    const node = own ?? claim.name;
    for (const pod of pods) {
      const { nominatedNodeName: nominated, spec } = pod;
      const isFree = nominated === undefined || !free.has(nominated);
      const isOurs = own !== undefined && nominated === own;
      const isMeant = isOurs || (isFree && !isTrue(claim, 'Registered'));
      const room = free.get(node);
      if (kept.has(pod) || !isMeant || room === undefined) continue;
      if (!fitsResources(spec.requests, room)) continue;
      if (untoleratedTaint(spec.tolerations, taints.get(node) ?? []) !== undefined) continue;
      free.set(node, subtractResources(room, spec.requests));
      kept.set(pod, node);
    }
  }
  return kept;
}

/** The pods as they were last, by the list that they come from: most plans keep the same ones. */
const placed = new WeakMap<
  readonly Pod[],
  { readonly kept: KeptPlacements; readonly pods: readonly Pod[] }
>();

function withNodes(pods: readonly Pod[], kept: KeptPlacements): readonly Pod[] {
  const before = placed.get(pods);
  const isSame =
    before?.kept.size === kept.size &&
    [...kept].every(([pod, node]) => before.kept.get(pod) === node);
  if (isSame) return before.pods;
  const made = pods.map((pod) => {
    const nodeName = kept.get(pod);
    return nodeName === undefined ? pod : { ...pod, nodeName };
  });
  placed.set(pods, { kept, pods: made });
  return made;
}

function withKept(existing: Plan['existing'], kept: KeptPlacements): Plan['existing'] {
  const pods = new Map(existing.map((each) => [each.node, [...each.pods]]));
  for (const [pod, node] of kept) {
    pods.set(node, [...(pods.get(node) ?? []), podKey(pod)]);
  }
  return [...pods]
    .map(([node, keys]) => ({ node, pods: keys.sort() }))
    .sort((a, b) => (a.node < b.node ? -1 : 1));
}

/**
 * A plan for what no earlier plan has a place for. Pods that wait for a node which was planned for
 * them are not planned anew: a plan as tight as the one they come from might not be found again.
 */
export function replan(snapshot: ClusterSnapshot, settings: SchedulingSettings): Plan {
  return replanned(snapshot, settings).plan;
}

/** The plan, and the state that it was made in, for those who want to look closer. */
export function replanned(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
): ReturnType<typeof solved> {
  const kept = keptPods(snapshot);
  if (kept.size === 0) return solved(snapshot, settings);
  const pods = withNodes(snapshot.pods, kept);
  const { plan, state } = solved({ ...snapshot, pods }, settings);
  return { plan: { ...plan, existing: withKept(plan.existing, kept) }, state };
}
