import { type Pod, toldToGoAtMs } from '../../model/pod.ts';
import { isReschedulable } from '../candidates.ts';

/** What has changed so long ago may be part of something that is not over. */
const RECENT_MS = 15_000;
/** Of all pods that share has changed where something is under way that concerns many nodes. */
const SHARE_MIN = 0.01;

function hasChanged(pod: Pod, nowMs: number): boolean {
  const { createdAtMs, deletedAtMs } = pod;
  if (!isReschedulable({ ...pod, deletedAtMs: undefined })) return false;
  const atMs = deletedAtMs === undefined ? createdAtMs : toldToGoAtMs(pod, deletedAtMs);
  return nowMs - atMs < RECENT_MS;
}

/**
 * Whether pods are coming and going right now, as in a scale-down or a rollout. Moves that are
 * planned in between evict pods that would have gone by themselves, and use room that others have a
 * moment later.
 */
export function isUnsettled(pods: readonly Pod[], nowMs: number): boolean {
  const changed = pods.filter((pod) => hasChanged(pod, nowMs)).length;
  return changed > 0 && changed >= SHARE_MIN * pods.length;
}
