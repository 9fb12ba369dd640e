import { sha256 } from '../launch/sha256.ts';
import { conditionOf, withConditions } from '../lifecycle/conditions.ts';
import type { Condition } from '../model/cluster.ts';
import { PODS_HASH } from '../model/labels.ts';
import { type Pod, toldToGoAtMs } from '../model/pod.ts';
import type { DurationOrNever } from '../model/provisioning.ts';
import { type Candidate, isReschedulable } from './candidates.ts';

/** On a claim whose node no pod has come to or left for `consolidateAfter`. */
const CONSOLIDATABLE = 'Consolidatable';
/** Old versions of Karpenter had it; Consolidatable says as much. */
const EMPTY = 'Empty';

const HASH_LENGTH = 12;

/** What has come of a node's pods. */
export interface PodEvent {
  /** Stands for the pods that are there to stay: it changes when one comes, ends or begins to go. */
  readonly hash: string;
  /** When one last did; undefined: nobody knows of any. */
  readonly atMs: number | undefined;
}

/** A pod's time on its node. */
interface Stay {
  readonly uid: string;
  readonly fromMs: number;
  /** Undefined: it stays. */
  readonly untilMs: number | undefined;
}

/**
 * Pods that are there to stay, and those that were until they were told to go. DaemonSets' and
 * static ones do not count, and what has ended does not say when.
 */
function staysOf(pods: readonly Pod[]): readonly Stay[] {
  return pods.flatMap((pod): readonly Stay[] => {
    const { uid, startedAtMs, createdAtMs, deletedAtMs } = pod;
    if (!isReschedulable({ ...pod, deletedAtMs: undefined })) return [];
    const untilMs = deletedAtMs === undefined ? undefined : toldToGoAtMs(pod, deletedAtMs);
    return [{ uid, fromMs: startedAtMs ?? createdAtMs, untilMs }];
  });
}

function hashOf(stays: readonly Stay[]): string {
  const uids = stays.map(({ uid }) => uid).sort();
  return sha256(uids.join(' ')).slice(0, HASH_LENGTH);
}

/** Claims and pods have times in whole seconds. */
function isBy(atMs: number | undefined, limitMs: number): boolean {
  return atMs !== undefined && Math.floor(atMs / 1000) <= Math.floor(limitMs / 1000);
}

/** The pods that were there to stay then, of those that are still to be seen. */
function thenStaying(stays: readonly Stay[], atMs: number): readonly Stay[] {
  return stays.filter(({ fromMs, untilMs }) => isBy(fromMs, atMs) && !isBy(untilMs, atMs));
}

/**
 * When a pod last came to the claim's node, ended there or began to go: what the claim says, or
 * later. Where the pods that are there explain what differs from when it was noted, they say when
 * that came about; what has happened unseen counts as of now.
 */
export function podEvent(
  { claim, pods }: Pick<Candidate, 'claim' | 'pods'>,
  nowMs: number,
): PodEvent {
  const { lastPodEventAtMs: knownMs, annotations } = claim;
  const noted = annotations[PODS_HASH];
  const stays = staysOf(pods);
  const hash = hashOf(stays.filter(({ untilMs }) => untilMs === undefined));
  // Whoever notes it for the first time cannot know what has gone.
  const isExplained =
    noted === undefined ||
    noted === hash ||
    noted === hashOf(thenStaying(stays, knownMs ?? Number.NEGATIVE_INFINITY));
  const seen = stays.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs ?? fromMs]);
  const times = [...(isExplained ? seen : [nowMs]), ...(knownMs === undefined ? [] : [knownMs])];
  return { hash, atMs: times.length === 0 ? undefined : Math.min(nowMs, Math.max(...times)) };
}

/** From when on `consolidateAfter` counts: the last pod event, or that the node was initialised. */
export function quietSinceMs(candidate: Pick<Candidate, 'claim' | 'pods'>, nowMs: number): number {
  const initialized = conditionOf(candidate.claim, 'Initialized');
  const readyAtMs = initialized?.lastTransitionAtMs ?? nowMs;
  return Math.max(readyAtMs, podEvent(candidate, nowMs).atMs ?? readyAtMs);
}

/** Whether no pod has come to the node or left it for as long as its NodePool wants. */
export function isConsolidatable(
  candidate: Pick<Candidate, 'claim' | 'pods'>,
  consolidateAfter: DurationOrNever,
  nowMs: number,
): boolean {
  if (consolidateAfter === 'Never') return false;
  return consolidateAfter === 0 || nowMs >= quietSinceMs(candidate, nowMs) + consolidateAfter;
}

/** The list with the condition Consolidatable, or without it. */
export function withConsolidatable(
  conditions: readonly Condition[],
  isIt: boolean,
  nowMs: number,
): readonly Condition[] {
  const others = conditions.filter(({ type }) => type !== EMPTY);
  if (!isIt) return others.filter(({ type }) => type !== CONSOLIDATABLE);
  const said = {
    type: CONSOLIDATABLE,
    status: 'True',
    reason: CONSOLIDATABLE,
    message: '',
  } as const;
  return withConditions(others, [said], nowMs);
}
