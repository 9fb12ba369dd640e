import { parseDurationMs } from '../duration.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim } from '../model/cluster.ts';
import { DO_NOT_DISRUPT, DRAIN } from '../model/labels.ts';
import { claimNameOf, isOver, type Pod } from '../model/pod.ts';
import { DISRUPTED, tolerates } from '../model/taint.ts';

/** Pods that are still terminating this long after their grace period no longer hold a node. */
export const STUCK_AFTER_MS = 60_000;

/** Whether a pod that was told to go should have gone long ago. */
export function isStuck({ deletedAtMs }: Pod, nowMs: number): boolean {
  return deletedAtMs !== undefined && nowMs >= deletedAtMs + STUCK_AFTER_MS;
}

/**
 * "true", or a duration counted from the pod's start, so that a pod that has not started is
 * protected, as in Karpenter; anything else protects nothing.
 */
export function isProtected(pod: Pod, nowMs: number): boolean {
  const value = pod.annotations[DO_NOT_DISRUPT];
  if (value === undefined) return false;
  if (value === 'true') return true;
  const protectedMs = parseDurationMs(value) ?? 0;
  return (
    protectedMs > 0 && (pod.startedAtMs === undefined || nowMs < pod.startedAtMs + protectedMs)
  );
}

/** Pods that a drain waits for: not those that stay by intent, are over, or are stuck. */
export function holdsNode(pod: Pod, nowMs: number): boolean {
  if (pod.isMirror || pod.controller?.kind === 'Node') return false;
  if (isOver(pod)) return false;
  if (pod.spec.tolerations.some((each) => tolerates(each, DISRUPTED))) return false;
  return !isStuck(pod, nowMs);
}

function isCritical(pod: Pod): boolean {
  const name = pod.spec.priorityClassName;
  return name === 'system-cluster-critical' || name === 'system-node-critical';
}

/** 0 is drained first: plain pods, DaemonSets' pods, critical pods, critical DaemonSets' pods. */
function drainGroup(pod: Pod): number {
  return (isCritical(pod) ? 2 : 0) + (pod.controller?.kind === 'DaemonSet' ? 1 : 0);
}

export interface DrainStep {
  readonly evict: readonly Pod[];
  /**
   * Pods that ask for a restart of their Deployment, which ends them once others are ready in their
   * place. Not those alone: what one asks for may have a {@link drainFault}.
   */
  readonly restart: readonly Pod[];
  /** Pods that `do-not-disrupt` keeps from eviction: nothing but their deadline ends them. */
  readonly keep: readonly Pod[];
  /** Past their deadline: deleted whatever protects them. */
  readonly remove: readonly { readonly pod: Pod; readonly gracePeriodSeconds: number }[];
  /** Pods that still hold the node. */
  readonly waiting: readonly Pod[];
}

function byName(a: Pod, b: Pod): number {
  return a.namespace < b.namespace || (a.namespace === b.namespace && a.name < b.name) ? -1 : 1;
}

/** The only way that a pod can ask to be drained in. */
const ROLLOUT = 'rollout';

/** What is wrong with the pod's annotation; undefined: nothing. */
export function drainFault({ annotations }: Pick<Pod, 'annotations'>): string | undefined {
  const value = annotations[DRAIN];
  if (value === undefined || value === ROLLOUT) return undefined;
  return `annotation ${DRAIN}: "${value}" is invalid; valid: ${ROLLOUT}`;
}

/** Whether the pod asks that others are ready in its place before it goes, however it is spelt. */
export function isRolledOut({ annotations, controller }: Pod): boolean {
  return annotations[DRAIN] !== undefined && controller?.kind === 'ReplicaSet';
}

/**
 * The next step of a drain. `deadlineMs` is when the node's termination grace period ends,
 * `rolloutEndMs` when pods are evicted whose Deployment was restarted.
 */
export function drainStep(
  pods: readonly Pod[],
  deadlineMs: number | undefined,
  nowMs: number,
  rolloutEndMs = Number.NEGATIVE_INFINITY,
): DrainStep {
  const waiting = pods.filter((pod) => holdsNode(pod, nowMs)).sort(byName);
  const running = waiting.filter((pod) => pod.deletedAtMs === undefined);
  const late = running.filter(
    (pod) =>
      deadlineMs !== undefined &&
      nowMs >= deadlineMs - pod.spec.terminationGracePeriodSeconds * 1000,
  );
  const first = Math.min(...waiting.map(drainGroup));
  const leaving = running.filter(
    (pod) => !late.includes(pod) && drainGroup(pod) === first && !isProtected(pod, nowMs),
  );
  const restart = leaving.filter((pod) => nowMs < rolloutEndMs && isRolledOut(pod));
  const evict = leaving.filter((pod) => !restart.includes(pod));
  const remove = late.map((pod) => {
    const left = Math.max(0, Math.floor(((deadlineMs ?? nowMs) - nowMs) / 1000));
    return { pod, gracePeriodSeconds: Math.min(left, pod.spec.terminationGracePeriodSeconds) };
  });
  const keep = running.filter((pod) => !late.includes(pod) && isProtected(pod, nowMs));
  return { evict, restart, keep, remove, waiting };
}

/** Names of attachments that belong to volumes of pods that a drain removes. */
export function blockingAttachments(
  node: Node,
  pods: readonly Pod[],
  attachments: readonly {
    readonly name: string;
    readonly nodeName: string;
    readonly persistentVolumeName: string | undefined;
  }[],
  volumes: {
    readonly persistentVolumeClaims: readonly PersistentVolumeClaim[];
    readonly persistentVolumes: readonly PersistentVolume[];
  },
  nowMs: number,
): readonly string[] {
  const staying = pods.filter((pod) => !isOver(pod) && !holdsNode(pod, nowMs));
  const kept = volumesOf(staying, volumes.persistentVolumeClaims);
  return attachments
    .filter(({ nodeName, persistentVolumeName: volume }) => {
      const isKept = volume !== undefined && kept.has(volume);
      return nodeName === node.name && !isKept;
    })
    .map((each) => each.name)
    .sort();
}

function volumesOf(
  pods: readonly Pod[],
  claims: readonly PersistentVolumeClaim[],
): ReadonlySet<string> {
  const names = new Set(
    pods.flatMap((pod) =>
      pod.spec.volumes.flatMap((volume) =>
        volume.kind === 'attached' ? [] : [`${pod.namespace}/${claimNameOf(pod, volume)}`],
      ),
    ),
  );
  // Few pods that stay have any, and a cluster has thousands of claims.
  if (names.size === 0) return names;
  return new Set(
    claims
      .filter((claim) => names.has(`${claim.namespace}/${claim.name}`))
      .flatMap((claim) => claim.volumeName ?? []),
  );
}
