import { quietSinceMs } from '../disruption/pod-events.ts';
import { conditionOf, isTrue } from '../lifecycle/conditions.ts';
import type { Node } from '../model/cluster.ts';
import { nodeOfClaim, podsOnNode } from '../model/joins.ts';
import { LAUNCHED_FOR } from '../model/labels.ts';
import { DEFAULT_SCHEDULER, isLive, isOver, type Pod, toldToGoAtMs } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { DISRUPTED } from '../model/taint.ts';
import { plannedPods } from '../nomination/planned-pods.ts';
import { GroupPods, podsByGroup, ranMs } from './group-pods.ts';
import {
  type LaunchedFor,
  launchedFor,
  type NamedGroup,
  type PodGroups,
  tryText,
} from './pod-groups.ts';
import { NOT_BOUND, unmetTexts } from './unmet.ts';
import type { LaunchOutcomes, OpenLaunch, UnusedLaunch, UsedLaunch } from './unused-launches.ts';

/** A pod that has run for so long has found its place, as far as one can see by then. */
const RAN_MS = 30_000;
/** What takes a pod its place later than this, an agent's DaemonSet for one, did not come at once. */
const SETTLED_MS = 10 * 60_000;
/** What became of a launch is known by then; pods of a group may never have run there. */
const LOOKED_AT_MS = 24 * 3_600_000;
/**
 * kube-scheduler tries a pod again at the latest 10 s after a node that it may fit has come
 * (`podMaxBackoffSeconds`), and a busy one has a queue.
 */
const BINDING_MS = 15_000;
/** Other schedulers work in rounds, and wait until a whole group of pods has its place. */
const OTHERS_BINDING_MS = 60_000;
/** A launch that did not join, or has not said by then what it is good for, stands for no try. */
const OPEN_MS = 20 * 60_000;
/** Nodes that are closed to new pods by these lack nothing: somebody drains them, or they are lost. */
const CLOSING_TAINTS: ReadonlySet<string> = new Set([
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/out-of-service',
  'node.cloudprovider.kubernetes.io/shutdown',
]);

/** A group of which there is no pod that says anything. */
const NO_PODS = new GroupPods();

/** One claim that was written for waiting pods, and its node. */
interface Launch {
  readonly claim: NodeClaim;
  readonly launchedFor: LaunchedFor;
  readonly node: Node | undefined;
  /** All pods that are bound to the node. */
  readonly there: readonly Pod[];
  readonly joinedAtMs: number | undefined;
  /** When the node was closed to new pods on purpose; infinite: it is open. */
  readonly closedAtMs: number;
  /** All pods of the plan are gone, before the node has come: it was launched for nothing. */
  readonly isForsaken: boolean;
}

function initializedAtMs(claim: NodeClaim): number | undefined {
  const found = conditionOf(claim, 'Initialized');
  return found?.status === 'True' ? found.lastTransitionAtMs : undefined;
}

function isForsaken(claim: NodeClaim, live: ReadonlySet<string>): boolean {
  const planned = plannedPods(claim);
  const isJoined = isTrue(claim, 'Initialized');
  return !isJoined && planned.length > 0 && planned.every((uid) => !live.has(uid));
}

function closedAtMs(claim: NodeClaim, node: Node | undefined, nowMs: number): number {
  const { deletedAtMs } = claim;
  const disrupted = conditionOf(claim, 'DisruptionReason');
  const disruptedAtMs = disrupted?.status === 'True' ? disrupted.lastTransitionAtMs : undefined;
  const isTainted = node?.taints.some(({ key }) => key === DISRUPTED.key) === true;
  const known = [disruptedAtMs, deletedAtMs, node?.deletedAtMs].flatMap((each) => each ?? []);
  if (known.length > 0) return Math.min(...known);
  return isTainted ? nowMs : Number.POSITIVE_INFINITY;
}

/** Whether its node is removed since no pod has a use for it, not those that wait either. */
function isRemovedAsEmpty({ claim }: Launch): boolean {
  const disrupted = conditionOf(claim, 'DisruptionReason');
  return disrupted?.status === 'True' && disrupted.reason === 'Empty';
}

/** Whether the pod needs room that the node has for others, unlike what runs on every node. */
function takesRoom(pod: Pod): boolean {
  const { controller, isMirror } = pod;
  const isOfNode = controller?.kind === 'DaemonSet' || controller?.kind === 'Node' || isMirror;
  return !isOfNode && !isOver(pod);
}

/** Whether somebody else keeps new pods away, or the node is lost: it lacks nothing by itself. */
function isKeptClosed({ node }: Launch): boolean {
  return node?.taints.some(({ key }) => CLOSING_TAINTS.has(key)) !== false;
}

/** Whether others than pods of DaemonSets are on the node, and stay. */
function runsOthers({ there }: Launch): boolean {
  return there.some((pod) => isLive(pod) && takesRoom(pod));
}

/** Whether the node would take pods, and none is there or on its way out, for a while already. */
function isIdle({ claim, there }: Launch, nowMs: number): boolean {
  return (
    !there.some(takesRoom) && quietSinceMs({ claim, pods: there }, nowMs) + BINDING_MS <= nowMs
  );
}

/** What a launch is to one group. */
interface Looked {
  readonly launch: Launch;
  readonly group: GroupPods;
  /** A pod of the group that is not on the node: one that waits, where there is one. */
  readonly pod: Pod;
  /** It does not look as those that the claim was written for. */
  readonly isOther: boolean;
  /** What the node lacks for it. */
  readonly lacks: readonly string[];
  /** As many nodes stand ready for the group as pods wait, and more. */
  readonly isOneTooMany: boolean;
}

/**
 * Whether the launch was in vain; undefined: it is too early to say. Where nothing is seen that the
 * node lacks, the pods may wait for other nodes, as those of a gang do: only if the planner has no
 * use for the node either, as another was launched for the pods or it is removed as empty, was it.
 */
function isInVain(
  { launch, group, pod, isOther, lacks, isOneTooMany }: Looked,
  nowMs: number,
): boolean | undefined {
  const { claim, node, there, joinedAtMs } = launch;
  if (pod.createdAtMs >= launch.closedAtMs) return false;
  if (launch.isForsaken) return isOther;
  if (node === undefined) return false;
  const isOpen = launch.closedAtMs === Number.POSITIVE_INFINITY;
  const early = isOpen ? undefined : false;
  if (joinedAtMs === undefined) return early;
  if (isRemovedAsEmpty(launch)) return true;
  const hasLostOne = group.on(node.name).length > 0;
  if (lacks.length > 0 && hasLostOne) return true;
  const isDefault = pod.spec.schedulerName === DEFAULT_SCHEDULER;
  if (joinedAtMs + (isDefault ? BINDING_MS : OTHERS_BINDING_MS) > nowMs) return early;
  if (lacks.length === 0) return isOneTooMany && isOpen ? true : early;
  return !group.isElsewhere(claim, node.name) || !there.some(takesRoom);
}

/**
 * The same where a pod of the group has run there for a while: it may have ended, or be drained.
 * Then the node has to stand idle, and to lack something for a pod of the group all the same. That
 * one may have got another node by now, which was launched for it.
 */
function isInVainAfterUse(
  { launch, group, pod, lacks }: Looked,
  nowMs: number,
): boolean | undefined {
  const isWaiting = pod === group.waiting;
  if (pod.createdAtMs >= launch.closedAtMs || isKeptClosed(launch)) return false;
  if (isRemovedAsEmpty(launch)) return isWaiting || lacks.length > 0;
  if (launch.closedAtMs !== Number.POSITIVE_INFINITY) return false;
  const isSure = lacks.length > 0 && pod.createdAtMs + BINDING_MS <= nowMs;
  if (isSure && isIdle(launch, nowMs)) return true;
  return isWaiting && !runsOthers(launch) ? undefined : false;
}

/** Whether a pod of the group has found its place there for good. */
function isServed(hosted: readonly Pod[], nowMs: number): boolean {
  return hosted.some((pod) => pod.phase === 'Succeeded' || ranMs(pod, nowMs) >= SETTLED_MS);
}

/** Whether pods have left the node that had run there, and none looks for another place. */
function isVacated(
  { joinedAtMs = Number.POSITIVE_INFINITY, closedAtMs: closed }: Launch,
  waiting: Pod | undefined,
  nowMs: number,
): boolean {
  return waiting === undefined && (closed <= nowMs || joinedAtMs + SETTLED_MS <= nowMs);
}

function launchesOf(
  snapshot: Pick<ClusterSnapshot, 'nodes' | 'pods'>,
  claims: readonly NodeClaim[],
  nowMs: number,
): readonly Launch[] {
  const live = new Set(snapshot.pods.filter(isLive).map(({ uid }) => uid));
  return claims.map((claim): Launch => {
    const node = nodeOfClaim(snapshot.nodes, claim);
    return {
      claim,
      launchedFor: launchedFor(claim),
      node,
      there: podsOnNode(snapshot.pods, node?.name),
      joinedAtMs: initializedAtMs(claim),
      closedAtMs: closedAtMs(claim, node, nowMs),
      isForsaken: isForsaken(claim, live),
    };
  });
}

/** How many nodes of each group stand ready that none of its pods is on. */
function readyNodes(
  launches: readonly Launch[],
  byGroup: ReadonlyMap<string, GroupPods>,
): ReadonlyMap<string, number> {
  const ready = new Map<string, number>();
  for (const {
    launchedFor: { groups },
    node,
    joinedAtMs,
    closedAtMs: closed,
  } of launches) {
    const isReady = node !== undefined && joinedAtMs !== undefined;
    if (!isReady || closed !== Number.POSITIVE_INFINITY) continue;
    for (const { id, hasRun } of groups) {
      // One that pods have left is there, whatever was launched since.
      if (hasRun) continue;
      const isUsed = byGroup.get(id)?.on(node.name).some(isLive) ?? false;
      if (!isUsed) ready.set(id, (ready.get(id) ?? 0) + 1);
    }
  }
  return ready;
}

/** What the launches are looked at by. */
interface Looking {
  readonly groups: PodGroups;
  readonly byGroup: ReadonlyMap<string, GroupPods>;
  /** {@link readyNodes} */
  readonly ready: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

/** What has come of a launch for one group. */
type Outcome =
  | { readonly kind: 'used'; readonly isSettled: boolean }
  | { readonly kind: 'unused'; readonly hasRun: boolean; readonly lacks: readonly string[] }
  | { readonly kind: 'open'; readonly isDoubtful: boolean }
  | undefined;

function outcomeOf(launch: Launch, { id, look, ...named }: NamedGroup, looking: Looking): Outcome {
  const { byGroup, ready, nowMs } = looking;
  const { node, there } = launch;
  const group = byGroup.get(id) ?? NO_PODS;
  const hosted = node === undefined ? [] : group.on(node.name);
  if (isServed(hosted, nowMs)) return { kind: 'used', isSettled: true };
  if (hosted.some(isLive)) {
    const isUsed = hosted.some((pod) => ranMs(pod, nowMs) >= RAN_MS);
    return isUsed ? { kind: 'used', isSettled: false } : undefined;
  }
  const { waiting, waitingCount } = group;
  const hasRun = named.hasRun || hosted.some(hadRun);
  const pod = waiting ?? (hasRun ? group.like(look) : undefined);
  if (pod !== undefined) {
    const lacks = node === undefined ? [] : unmetTexts(pod, node, there.filter(isLive));
    const isOneTooMany = (ready.get(id) ?? 0) > waitingCount;
    const isOther = looking.groups.of(pod).some((each) => each.id === id && each.look !== look);
    const looked = { launch, group, pod, isOther, lacks, isOneTooMany };
    const isVain =
      named.isVain || (hasRun ? isInVainAfterUse(looked, nowMs) : isInVain(looked, nowMs));
    if (isVain === true) return { kind: 'unused', hasRun, lacks };
    const { joinedAtMs, claim } = launch;
    const isYoung = nowMs < (joinedAtMs ?? claim.createdAtMs) + OPEN_MS;
    const isDoubtful = lacks.length > 0 && joinedAtMs !== undefined;
    if (isVain === undefined && isYoung) return { kind: 'open', isDoubtful };
  }
  return hasRun && !named.isVain && isVacated(launch, waiting, nowMs)
    ? { kind: 'used', isSettled: true }
    : undefined;
}

function unusedOf(
  launch: Launch,
  group: NamedGroup,
  { hasRun, lacks }: { readonly hasRun: boolean; readonly lacks: readonly string[] },
): UnusedLaunch {
  const {
    node,
    launchedFor: { ways },
  } = launch;
  const { uid, name, createdAtMs } = launch.claim;
  const why = lacks.length === 0 ? NOT_BOUND : lacks.join(', ');
  return {
    ...{ group: group.id, claim: name, uid, createdAtMs, hasRun },
    ways: tryText(ways, group),
    runsOthers: runsOthers(launch),
    lacks: node === undefined ? 'its pods were gone before the node joined' : why,
  };
}

/** Whether a pod that was told to go had run for a while by then. */
function hadRun(pod: Pod): boolean {
  const { deletedAtMs, startedAtMs } = pod;
  if (deletedAtMs === undefined || startedAtMs === undefined) return false;
  return toldToGoAtMs(pod, deletedAtMs) - startedAtMs >= RAN_MS;
}

/**
 * Looks at the claims that were written for waiting pods, as long as they say for which
 * ({@link LAUNCHED_FOR}). A launch that no pod of a group uses counts only while pods of it wait:
 * they may have been deleted, or have found a place elsewhere. Pods that came once its node was
 * closed on purpose, to be removed or replaced, say nothing about it. Where a pod of the group has
 * run there for a while, the node has to stand idle beside one that waits.
 */
export function launchOutcomes(
  snapshot: Pick<ClusterSnapshot, 'nodeClaims' | 'nodes' | 'pods'>,
  groups: PodGroups,
  nowMs: number,
): LaunchOutcomes {
  const unused: UnusedLaunch[] = [];
  const used: UsedLaunch[] = [];
  const open: OpenLaunch[] = [];
  const claims = snapshot.nodeClaims.filter(
    ({ annotations, createdAtMs }) =>
      annotations[LAUNCHED_FOR] !== undefined && createdAtMs + LOOKED_AT_MS > nowMs,
  );
  if (claims.length === 0) return { unused, used, open };
  const since = claims.reduce((least, each) => Math.min(least, each.createdAtMs), nowMs);
  const byGroup = podsByGroup(snapshot, groups, since);
  const launches = launchesOf(snapshot, claims, nowMs);
  const looking = { groups, byGroup, ready: readyNodes(launches, byGroup), nowMs };
  for (const launch of launches) {
    const { name, uid, createdAtMs } = launch.claim;
    for (const group of launch.launchedFor.groups) {
      const outcome = outcomeOf(launch, group, looking);
      if (outcome?.kind === 'unused') unused.push(unusedOf(launch, group, outcome));
      else if (outcome?.kind === 'open') {
        const { isDoubtful } = outcome;
        open.push({ group: group.id, claim: name, isDoubtful, runsOthers: runsOthers(launch) });
      } else if (outcome?.kind === 'used') {
        used.push({ group: group.id, uid, createdAtMs, isSettled: outcome.isSettled });
      }
    }
  }
  return { unused, used, open };
}
