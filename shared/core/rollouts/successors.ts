import { isRolledOut } from '../lifecycle/drain.ts';
import { isLive, type Pod } from '../model/pod.ts';

/**
 * A ReplicaSet of a Deployment is named after it and a hash without a hyphen.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label
 */
function deploymentOf({ namespace, controller }: Pod): string {
  const set = controller?.name ?? '';
  return `${namespace}/${set.slice(0, Math.max(0, set.lastIndexOf('-')))}`;
}

/** Whether the Deployment made it in the place of the other. */
function succeeds(pod: Pod, old: Pod): boolean {
  return pod.controller?.uid !== old.controller?.uid && pod.createdAtMs > old.createdAtMs;
}

/** In any order of the snapshot the same. */
function byAge(a: Pod, b: Pod): number {
  return a.createdAtMs - b.createdAtMs || (a.uid < b.uid ? -1 : 1);
}

/**
 * Of pods on nodes that are going away those that the rollout of their Deployment ends, and whose
 * successors are there and not ready: a successor needs a place, and the pod needs no other.
 */
export function withSuccessor(moving: Iterable<Pod>, pods: readonly Pod[]): readonly Pod[] {
  const old = [...moving].filter(isRolledOut).sort(byAge);
  if (old.length === 0) return [];
  const names = new Set(old.map(deploymentOf));
  const starting = pods.filter(
    (pod) =>
      pod.controller?.kind === 'ReplicaSet' &&
      isLive(pod) &&
      !pod.ready &&
      names.has(deploymentOf(pod)),
  );
  const free = Map.groupBy(starting.sort(byAge), deploymentOf);
  return old.filter((pod) => {
    const own = free.get(deploymentOf(pod)) ?? [];
    const at = own.findIndex((each) => succeeds(each, pod));
    if (at < 0) return false;
    own.splice(at, 1);
    return true;
  });
}
