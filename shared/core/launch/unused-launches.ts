import { isTrue } from '../lifecycle/conditions.ts';
import { isPending, plannedPods } from '../lifecycle/planned-pods.ts';
import type { Node } from '../model/cluster.ts';
import { LAUNCHED_FOR } from '../model/labels.ts';
import type { Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { DISRUPTED } from '../model/taint.ts';
import { launchedFor, type PodGroups } from './pod-groups.ts';
import { unmetBy } from './unmet.ts';

/** A node that was launched for pods of a group, has joined, and runs none of them. */
export interface UnusedLaunch {
  readonly group: string;
  /** Name of the NodeClaim. */
  readonly claim: string;
  readonly uid: string;
  readonly createdAtMs: number;
  /** What could be launched then: {@link launchWays}. */
  readonly ways: string;
  /** Whether the node runs other pods than those of DaemonSets. */
  readonly runsOthers: boolean;
  /** What the node lacks for such a pod, for people. */
  readonly lacks: string;
}

/** A launch that pods of a group have made use of. */
export interface UsedLaunch {
  readonly group: string;
  readonly uid: string;
  readonly createdAtMs: number;
  /** A pod of it has run on long enough: the launch is not looked at for this group any more. */
  readonly isSettled: boolean;
}

/** What came of the launches for pods that wait. */
export interface LaunchOutcomes {
  readonly unused: readonly UnusedLaunch[];
  readonly used: readonly UsedLaunch[];
}

/** A pod that has run for so long is there to stay. */
const SETTLED_MS = 30_000;
/** What became of a launch is known by then; pods of a group may never have run there. */
const LOOKED_AT_MS = 24 * 3_600_000;
/** kube-scheduler takes less time to bind pods to a node that is ready. */
const BINDING_MS = 5_000;

function isLive({ phase, deletedAtMs }: Pod): boolean {
  return deletedAtMs === undefined && phase !== 'Succeeded' && phase !== 'Failed';
}

function hasSettled(pod: Pod, nowMs: number): boolean {
  if (pod.phase === 'Succeeded') return true;
  const { startedAtMs = nowMs } = pod;
  return isLive(pod) && pod.phase === 'Running' && startedAtMs + SETTLED_MS <= nowMs;
}

function initializedAtMs({ conditions }: NodeClaim): number | undefined {
  const found = conditions.find(({ type, status }) => type === 'Initialized' && status === 'True');
  return found?.lastTransitionAtMs;
}

/** Whether all pods of the plan are gone, before the node has come: it was launched for nothing. */
function isForsaken(claim: NodeClaim, live: ReadonlySet<string>): boolean {
  const planned = plannedPods(claim);
  const isJoined = isTrue(claim, 'Initialized');
  return !isJoined && planned.length > 0 && planned.every((uid) => !live.has(uid));
}

/** When the node was closed to new pods on purpose; undefined: it is open. */
function closedAtMs(claim: NodeClaim, node: Node | undefined, nowMs: number): number | undefined {
  const { conditions, deletedAtMs } = claim;
  const disrupted = conditions.find(
    ({ type, status }) => type === 'DisruptionReason' && status === 'True',
  );
  const isTainted = node?.taints.some(({ key }) => key === DISRUPTED.key) === true;
  const known = [disrupted?.lastTransitionAtMs, deletedAtMs, node?.deletedAtMs];
  const times = known.flatMap((each) => each ?? []);
  if (times.length > 0) return Math.min(...times);
  return isTainted ? nowMs : undefined;
}

/** The pods of a group that say what came of its launches. */
class GroupPods {
  /** Of those that wait the one that has done so longest. */
  waiting: Pod | undefined;
  private readonly byNode = new Map<string, Pod[]>();
  private readonly bound: Pod[] = [];
  private readonly moved = new Map<number, ReadonlySet<string>>();

  addWaiting(pod: Pod): void {
    const { waiting } = this;
    const isOlder =
      waiting === undefined ||
      pod.createdAtMs < waiting.createdAtMs ||
      (pod.createdAtMs === waiting.createdAtMs && pod.uid < waiting.uid);
    if (isOlder) this.waiting = pod;
  }

  addBound(pod: Pod, node: string): void {
    this.bound.push(pod);
    const there = this.byNode.get(node);
    if (there === undefined) this.byNode.set(node, [pod]);
    else there.push(pod);
  }

  on(node: string | undefined): readonly Pod[] {
    return this.byNode.get(node ?? '') ?? [];
  }

  /** Whether one that waited when the claim was written has found another node since. */
  isElsewhere({ createdAtMs }: NodeClaim, node: string | undefined): boolean {
    let nodes = this.moved.get(createdAtMs);
    if (nodes === undefined) {
      nodes = this.movedSince(createdAtMs);
      this.moved.set(createdAtMs, nodes);
    }
    return nodes.size > (node !== undefined && nodes.has(node) ? 1 : 0);
  }

  /** The nodes, two at most, that pods have found which waited then. */
  private movedSince(atMs: number): ReadonlySet<string> {
    const nodes = new Set<string>();
    for (const pod of this.bound) {
      const { nodeName, createdAtMs, startedAtMs = 0 } = pod;
      if (nodeName === undefined || createdAtMs > atMs || startedAtMs <= atMs) continue;
      if (isLive(pod)) nodes.add(nodeName);
      if (nodes.size === 2) break;
    }
    return nodes;
  }
}

function podsByGroup(
  { pods }: Pick<ClusterSnapshot, 'pods'>,
  groups: PodGroups,
  sinceMs: number,
): ReadonlyMap<string, GroupPods> {
  const found = new Map<string, GroupPods>();
  for (const pod of pods) {
    const { nodeName } = pod;
    const isWaiting = isPending(pod) && pod.unschedulable;
    const isNewlyBound = nodeName !== undefined && (pod.startedAtMs ?? sinceMs) >= sinceMs;
    if (!isWaiting && !isNewlyBound) continue;
    for (const { id } of groups.of(pod)) {
      const group = found.get(id) ?? new GroupPods();
      found.set(id, group);
      if (nodeName === undefined) group.addWaiting(pod);
      else group.addBound(pod, nodeName);
    }
  }
  return found;
}

/**
 * Looks at the claims that were written for waiting pods, as long as they say for which
 * ({@link LAUNCHED_FOR}). A launch that no pod of a group uses counts only while pods of it wait:
 * they may have been deleted, or have found a place elsewhere. Pods that came once its node was
 * closed on purpose, to be removed or replaced, say nothing about it.
 */
export function launchOutcomes(
  snapshot: Pick<ClusterSnapshot, 'nodeClaims' | 'nodes' | 'pods'>,
  groups: PodGroups,
  nowMs: number,
): LaunchOutcomes {
  const claims = snapshot.nodeClaims.filter(
    ({ annotations, createdAtMs }) =>
      annotations[LAUNCHED_FOR] !== undefined && createdAtMs + LOOKED_AT_MS > nowMs,
  );
  if (claims.length === 0) return { unused: [], used: [] };
  const since = claims.reduce((least, each) => Math.min(least, each.createdAtMs), nowMs);
  const byGroup = podsByGroup(snapshot, groups, since);
  const live = new Set(snapshot.pods.filter(isLive).map(({ uid }) => uid));
  const nodes = new Map(snapshot.nodes.map((node) => [node.providerId ?? '', node]));
  const onNode = Map.groupBy(snapshot.pods.filter(isLive), ({ nodeName }) => nodeName ?? '');
  const unused: UnusedLaunch[] = [];
  const used: UsedLaunch[] = [];
  for (const claim of claims) {
    const { uid, name, createdAtMs } = claim;
    const node = nodes.get(claim.providerId ?? '-');
    const there = onNode.get(node?.name ?? '-') ?? [];
    const joinedAtMs = initializedAtMs(claim);
    const isDue = joinedAtMs !== undefined && joinedAtMs + BINDING_MS <= nowMs;
    const closed = closedAtMs(claim, node, nowMs) ?? Number.POSITIVE_INFINITY;
    const { ways, ids } = launchedFor(claim);
    for (const id of ids) {
      const group = byGroup.get(id);
      if (group === undefined) continue;
      const hosted = group.on(node?.name);
      const isSettled =
        hosted.some((pod) => hasSettled(pod, nowMs)) || group.isElsewhere(claim, node?.name);
      const { waiting } = group;
      if (isSettled || hosted.some(isLive)) used.push({ group: id, uid, createdAtMs, isSettled });
      else if (
        waiting !== undefined &&
        waiting.createdAtMs < closed &&
        (isDue || hosted.length > 0 || isForsaken(claim, live))
      ) {
        const lacks = node === undefined ? 'its pods were gone before it came' : '';
        const runsOthers = there.some(({ controller }) => controller?.kind !== 'DaemonSet');
        unused.push({
          ...{ group: id, claim: name, uid, createdAtMs, ways, runsOthers },
          lacks: node === undefined ? lacks : unmetBy(waiting, node, there),
        });
      }
    }
  }
  return { unused, used };
}

/** As many launches are remembered for a group: what holds it, and a few waits more. */
const LAUNCHES_MAX = 12;
/**
 * And in all, room for some 7,000 groups: where the launches of groups push each other out before
 * any group has enough of them, no group is ever held.
 */
const ALL_MAX = 20_000;
/** For so long: the longest wait, and as long again. */
const REMEMBERED_MS = 48 * 3_600_000;

function byTime(a: UnusedLaunch, b: UnusedLaunch): number {
  return (
    b.createdAtMs - a.createdAtMs ||
    (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : a.group < b.group ? -1 : 1)
  );
}

/**
 * Of a group's launches, newest first, those to remember: of the ones made in the way of the newest
 * those farthest apart in time, for many of one time are one try; then the newest others.
 */
function mostTelling(launches: readonly UnusedLaunch[]): ReadonlySet<UnusedLaunch> {
  const [newest] = launches;
  const current = launches.filter(({ ways }) => ways === newest?.ways);
  const others = launches.filter(({ ways }) => ways !== newest?.ways);
  const apart = current.map((each, at) => {
    const newerMs = current[at - 1]?.createdAtMs ?? Number.POSITIVE_INFINITY;
    return { each, at, gapMs: newerMs - each.createdAtMs };
  });
  apart.sort((a, b) => (a.gapMs === b.gapMs ? a.at - b.at : b.gapMs - a.gapMs));
  return new Set([...apart.map(({ each }) => each), ...others].slice(0, LAUNCHES_MAX));
}

/**
 * What is remembered of unused launches, their claims being gone or not. A launch that is made use
 * of is struck out with all before it: the group's pods do find places. The same list where nothing
 * is new.
 */
export function withOutcomes(
  before: readonly UnusedLaunch[],
  { unused, used }: LaunchOutcomes,
  nowMs: number,
): readonly UnusedLaunch[] {
  const known = new Set(before.map(({ group, uid }) => `${group} ${uid}`));
  const all = [...before, ...unused.filter(({ group, uid }) => !known.has(`${group} ${uid}`))];
  const usedAtMs = new Map<string, number>();
  for (const { group, createdAtMs } of used) {
    usedAtMs.set(group, Math.max(usedAtMs.get(group) ?? 0, createdAtMs));
  }
  const current = all
    .filter(
      ({ group, createdAtMs }) =>
        createdAtMs > (usedAtMs.get(group) ?? 0) && createdAtMs + REMEMBERED_MS > nowMs,
    )
    .sort(byTime);
  const telling = new Map<string, ReadonlySet<UnusedLaunch>>();
  for (const [group, launches] of Map.groupBy(current, (each) => each.group)) {
    if (launches.length > LAUNCHES_MAX) telling.set(group, mostTelling(launches));
  }
  const kept = current
    .filter((each) => telling.get(each.group)?.has(each) ?? true)
    .slice(0, ALL_MAX);
  const isSame = kept.length === before.length && kept.every((each, at) => each === before[at]);
  return isSame ? before : kept;
}
