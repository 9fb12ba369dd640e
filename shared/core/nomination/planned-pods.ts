import { PLANNED_PODS } from '../model/labels.ts';
import type { Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';

/**
 * An eighth of what all annotations of an object may have together (256 KiB): room for 885 uids,
 * more pods than any instance type takes. Pods beyond it are left to kube-scheduler.
 */
const BYTES_MAX = 32 * 1024;

/** A uid says which pod is meant, also where another one has got its name since. */
const SEPARATOR = ',';

/** What the annotation {@link PLANNED_PODS} says; undefined: no pods, no annotation. */
export function plannedPodsText(uids: Iterable<string>): string | undefined {
  let text = '';
  for (const uid of uids) {
    const longer = text === '' ? uid : `${text}${SEPARATOR}${uid}`;
    if (longer.length > BYTES_MAX) break;
    text = longer;
  }
  return text === '' ? undefined : text;
}

/** The uids of the pods that a plan has put on the claim's node. */
export function plannedPods({ annotations }: Pick<NodeClaim, 'annotations'>): readonly string[] {
  const text = annotations[PLANNED_PODS] ?? '';
  return text === '' ? [] : text.split(SEPARATOR);
}

/** Whether kube-scheduler has still to find a node for the pod. */
export function isPending(pod: Pod): boolean {
  return pod.nodeName === undefined && pod.phase === 'Pending' && pod.deletedAtMs === undefined;
}

/** Whether kube-scheduler has looked for a node for the pod, and found none. */
export function isWaiting(pod: Pod): boolean {
  return isPending(pod) && pod.unschedulable;
}
