import { readJsonObject, readTime } from '../model/annotations/json-object.ts';
import { claimOfNode } from '../model/joins.ts';
import { type Labels, REPLACES, UNDONE_MOVES } from '../model/labels.ts';
import { deploymentOf, isLive, type Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { isReschedulable } from './candidates.ts';
import { type FailedMove, FORGET_MS, readMove, waitMsOf } from './failed-moves.ts';

/** A node that is launched for moved pods within this time of their move has undone its saving. */
const WATCHED_MS = 20 * 60_000;
/** The API server keeps times to the second. */
const SECOND_MS = 1_000;
/** Workloads that are remembered of a NodePool: an annotation has not room for all of a cluster. */
const WORKLOADS_MAX = 100;

/** Moves of a workload's pods whose saving was spent on another node for them. */
export interface UndoneMoves extends FailedMove {
  /** When its pods were moved last, where that is still watched. */
  readonly movedAtMs: number | undefined;
  /** How many pods it had then: a node for more of them undoes nothing. */
  readonly pods: number;
}

/** Nothing was undone, and nothing waits. */
const NONE: FailedMove = { count: 0, untilMs: 0 };

/** By the workload, as `namespace/name` of what owns the pods. */
export type MovedWorkloads = ReadonlyMap<string, UndoneMoves>;

/** Of a Deployment its own name: a restart makes another ReplicaSet. Undefined: nobody owns it. */
export function workloadOf(pod: Pod): string | undefined {
  const { controller, namespace } = pod;
  if (controller === undefined) return undefined;
  return controller.kind === 'ReplicaSet' ? deploymentOf(pod) : `${namespace}/${controller.name}`;
}

function readEntry(value: unknown): UndoneMoves | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { moved, pods } = value as Readonly<Record<string, unknown>>;
  const movedAtMs = readTime(moved);
  const undone = readMove(value);
  if (movedAtMs === undefined && undone === undefined) return undefined;
  return { ...NONE, ...undone, movedAtMs, pods: typeof pods === 'number' ? pods : 0 };
}

const read = new WeakMap<Labels, MovedWorkloads>();

/** What a NodePool's annotation says; whatever cannot be read says nothing. */
export function movedWorkloads(annotations: Labels): MovedWorkloads {
  const known = read.get(annotations);
  if (known !== undefined) return known;
  const entries = Object.entries(readJsonObject(annotations[UNDONE_MOVES]) ?? {});
  const workloads = new Map(
    entries.flatMap(([workload, value]) => {
      const entry = readEntry(value);
      return entry === undefined ? [] : [[workload, entry] as const];
    }),
  );
  read.set(annotations, workloads);
  return workloads;
}

function entryOf({ movedAtMs, pods, count, untilMs }: UndoneMoves): unknown {
  return {
    ...(movedAtMs === undefined ? {} : { moved: new Date(movedAtMs).toISOString(), pods }),
    ...(count === 0 ? {} : { count, until: new Date(untilMs).toISOString() }),
  };
}

/** The annotation's text, of the workloads that count longest; null removes it. */
export function movedWorkloadsText(workloads: MovedWorkloads): string | null {
  if (workloads.size === 0) return null;
  const countsUntil = ({ movedAtMs = 0, untilMs }: UndoneMoves) => Math.max(movedAtMs, untilMs);
  const kept = [...workloads]
    .sort(([a, one], [b, other]) => countsUntil(other) - countsUntil(one) || (a < b ? -1 : 1))
    .slice(0, WORKLOADS_MAX)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    Object.fromEntries(kept.map(([workload, each]) => [workload, entryOf(each)])),
  );
}

/** By workload the pods that are not about to go. */
function livePodsOf(
  names: ReadonlySet<string>,
  pods: readonly Pod[],
): ReadonlyMap<string | undefined, readonly Pod[]> {
  if (names.size === 0) return new Map();
  const own = pods.filter((pod) => isLive(pod) && names.has(workloadOf(pod) ?? ''));
  return Map.groupBy(own, workloadOf);
}

/** The workloads, with those of the pods as moved now. */
export function withMoved(
  workloads: MovedWorkloads,
  moved: readonly Pod[],
  all: readonly Pod[],
  nowMs: number,
): MovedWorkloads {
  const names = new Set(moved.filter(isReschedulable).flatMap((pod) => workloadOf(pod) ?? []));
  const live = livePodsOf(names, all);
  const now = [...names].map((name) => {
    const { count, untilMs } = workloads.get(name) ?? NONE;
    const pods = live.get(name)?.length ?? 0;
    return [name, { count, untilMs, movedAtMs: nowMs, pods }] as const;
  });
  return new Map([...workloads, ...now]);
}

/**
 * Whether the pod came after the move to a node that was launched after it, and for no other move.
 * The node may be older than the pod: while a Deployment is restarted, one that was launched for
 * its first new pods takes in the last of them.
 */
function isLaunchedFor(pod: Pod, claim: NodeClaim | undefined, movedAtMs: number): boolean {
  return (
    claim !== undefined &&
    claim.annotations[REPLACES] === undefined &&
    movedAtMs < pod.createdAtMs + SECOND_MS &&
    movedAtMs < claim.createdAtMs + SECOND_MS
  );
}

function isUndone(
  { movedAtMs, pods: before }: UndoneMoves,
  pods: readonly Pod[],
  claims: ReadonlyMap<string, NodeClaim | undefined>,
): boolean {
  if (movedAtMs === undefined || pods.length > before) return false;
  return pods.some((pod) => isLaunchedFor(pod, claims.get(pod.nodeName ?? ''), movedAtMs));
}

/**
 * The workloads as things are now. Where pods of one came after their move, and wait no more since
 * a node was launched for them, the move has saved nothing: the next one comes after a while that
 * doubles each time. A move that nothing has undone in 20 minutes ends that.
 */
export function judged(
  workloads: MovedWorkloads,
  { pods, nodes, nodeClaims }: Pick<ClusterSnapshot, 'pods' | 'nodes' | 'nodeClaims'>,
  nowMs: number,
): MovedWorkloads {
  if (workloads.size === 0) return workloads;
  const watched = new Set(
    [...workloads].flatMap(([name, { movedAtMs }]) => (movedAtMs === undefined ? [] : [name])),
  );
  const own = livePodsOf(watched, pods);
  const claims = new Map(nodes.map((node) => [node.name, claimOfNode(nodeClaims, node)]));
  return new Map(
    [...workloads].flatMap(([name, each]): readonly (readonly [string, UndoneMoves])[] => {
      const { movedAtMs, count, untilMs } = each;
      if (isUndone(each, own.get(name) ?? [], claims)) {
        const wait = { count: count + 1, untilMs: nowMs + waitMsOf(count + 1) };
        return [[name, { ...each, ...wait, movedAtMs: undefined }]];
      }
      if (movedAtMs !== undefined) return nowMs < movedAtMs + WATCHED_MS ? [[name, each]] : [];
      return nowMs < untilMs + FORGET_MS ? [[name, each]] : [];
    }),
  );
}

/** Of the pods the first workload that is not moved now, and until when. */
export function notMovedNow(
  workloads: MovedWorkloads,
  pods: readonly Pod[],
  nowMs: number,
): { readonly workload: string; readonly untilMs: number } | undefined {
  if (workloads.size === 0) return undefined;
  const names = new Set(pods.filter(isReschedulable).map(workloadOf));
  const waiting = [...workloads]
    .flatMap(([workload, { untilMs }]) =>
      names.has(workload) && nowMs < untilMs ? [{ workload, untilMs }] : [],
    )
    .sort((a, b) => b.untilMs - a.untilMs || (a.workload < b.workload ? -1 : 1));
  return waiting[0];
}
