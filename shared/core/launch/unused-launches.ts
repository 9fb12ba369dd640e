import { isTrue } from '../lifecycle/conditions.ts';
import { isPending, plannedPods } from '../lifecycle/planned-pods.ts';
import { LAUNCHED_FOR } from '../model/labels.ts';
import type { Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
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

/** Whether the pod waited when the claim was written, and has found another node since. */
function isElsewhere(pod: Pod, claim: NodeClaim, node: string | undefined): boolean {
  return (
    pod.nodeName !== undefined &&
    pod.nodeName !== node &&
    isLive(pod) &&
    pod.createdAtMs <= claim.createdAtMs &&
    (pod.startedAtMs ?? 0) > claim.createdAtMs
  );
}

/** The pods that say what came of launches, by group. */
interface PodsByGroup {
  readonly waiting: ReadonlyMap<string, readonly Pod[]>;
  readonly bound: ReadonlyMap<string, readonly Pod[]>;
}

function podsByGroup(
  { pods }: Pick<ClusterSnapshot, 'pods'>,
  groups: PodGroups,
  sinceMs: number,
): PodsByGroup {
  const waiting = new Map<string, Pod[]>();
  const bound = new Map<string, Pod[]>();
  for (const pod of pods) {
    const isWaiting = isPending(pod) && pod.unschedulable;
    const isNewlyBound = pod.nodeName !== undefined && (pod.startedAtMs ?? sinceMs) >= sinceMs;
    if (!isWaiting && !isNewlyBound) continue;
    const byGroup = isWaiting ? waiting : bound;
    for (const { id } of groups.of(pod)) {
      const known = byGroup.get(id);
      if (known === undefined) byGroup.set(id, [pod]);
      else known.push(pod);
    }
  }
  return { waiting, bound };
}

/**
 * Looks at the claims that were written for waiting pods, as long as they say for which
 * ({@link LAUNCHED_FOR}). A launch that no pod of a group uses counts only while pods of it wait:
 * they may have been deleted, or have found a place elsewhere.
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
  const since = Math.min(...claims.map(({ createdAtMs }) => createdAtMs));
  const { waiting, bound } = podsByGroup(snapshot, groups, since);
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
    const { ways, ids } = launchedFor(claim);
    for (const group of ids) {
      const own = bound.get(group) ?? [];
      const hosted = own.filter(({ nodeName }) => nodeName === node?.name);
      const isSettled =
        hosted.some((pod) => hasSettled(pod, nowMs)) ||
        own.some((pod) => isElsewhere(pod, claim, node?.name));
      const [first] = waiting.get(group) ?? [];
      if (isSettled || hosted.some(isLive)) used.push({ group, uid, createdAtMs, isSettled });
      else if (first !== undefined && (isDue || hosted.length > 0 || isForsaken(claim, live))) {
        const lacks = node === undefined ? 'its pods were gone before it came' : '';
        const runsOthers = there.some(({ controller }) => controller?.kind !== 'DaemonSet');
        unused.push({
          ...{ group, claim: name, uid, createdAtMs, ways, runsOthers },
          lacks: node === undefined ? lacks : unmetBy(first, node, there),
        });
      }
    }
  }
  return { unused, used };
}

/** As many launches are remembered for a group, and in all. */
const LAUNCHES_MAX = 12;
const ALL_MAX = 500;
/** For so long: the longest wait, and as long again. */
const REMEMBERED_MS = 48 * 3_600_000;

function byTime(a: UnusedLaunch, b: UnusedLaunch): number {
  return (
    b.createdAtMs - a.createdAtMs ||
    (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : a.group < b.group ? -1 : 1)
  );
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
  const counts = new Map<string, number>();
  const kept = all
    .filter(
      ({ group, createdAtMs }) =>
        createdAtMs > (usedAtMs.get(group) ?? 0) && createdAtMs + REMEMBERED_MS > nowMs,
    )
    .sort(byTime)
    .filter(({ group }) => {
      const count = (counts.get(group) ?? 0) + 1;
      counts.set(group, count);
      return count <= LAUNCHES_MAX;
    })
    .slice(0, ALL_MAX);
  const isSame = kept.length === before.length && kept.every((each, at) => each === before[at]);
  return isSame ? before : kept;
}
