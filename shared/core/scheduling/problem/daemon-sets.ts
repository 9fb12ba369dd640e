import type { DaemonSet } from '../../model/cluster.ts';
import { type HostPort, isLive, isNewer, type Pod } from '../../model/pod.ts';
import { maxResources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { podIndexOf } from './pod-index.ts';

/** The label by which the DaemonSet controller says which template a pod was made from. */
const GENERATION = 'pod-template-generation';

function isCurrent(pod: Pod, { templateGeneration }: DaemonSet): boolean {
  const generation = pod.labels[GENERATION];
  return (
    generation === undefined ||
    templateGeneration === undefined ||
    generation === templateGeneration
  );
}

/**
 * The newest live pod of each DaemonSet's current template, by the DaemonSet's uid. A pod may name
 * any owner: one of another namespace is none.
 */
function newestPods(
  daemonSets: readonly DaemonSet[],
  pods: readonly Pod[],
): ReadonlyMap<string, Pod> {
  const byUid = new Map(daemonSets.map((each) => [each.uid, each]));
  const newest = new Map<string, Pod>();
  for (const pod of pods) {
    if (pod.controller === undefined || !isLive(pod)) continue;
    const { uid } = pod.controller;
    const owner = byUid.get(uid);
    if (owner?.namespace !== pod.namespace || !isCurrent(pod, owner)) continue;
    const known = newest.get(uid);
    if (known === undefined || isNewer(pod, known)) newest.set(uid, pod);
  }
  return newest;
}

function isSamePort(a: HostPort, b: HostPort): boolean {
  return a.ip === b.ip && a.port === b.port && a.protocol === b.protocol;
}

/**
 * The DaemonSets with what their pods really request: the greater of the template and of the newest
 * live pod made from it. A LimitRange, a mutating webhook or a VerticalPodAutoscaler makes pods
 * larger than their template, and a node planned without that has no room for what it is for.
 * Where such a pod may run is still the template's to say: the DaemonSet controller goes by it.
 */
export function effectiveDaemonSets({
  daemonSets,
  pods,
}: Pick<ClusterSnapshot, 'daemonSets' | 'pods'>): readonly DaemonSet[] {
  const newest = newestPods(daemonSets, podIndexOf(pods).ofDaemonSets);
  return daemonSets.map((daemonSet): DaemonSet => {
    const pod = newest.get(daemonSet.uid);
    if (pod === undefined || pod.spec.unreadable !== undefined) return daemonSet;
    const { podSpec } = daemonSet;
    const added = pod.spec.hostPorts.filter(
      (port) => !podSpec.hostPorts.some((each) => isSamePort(each, port)),
    );
    const requests = maxResources(podSpec.requests, pod.spec.requests);
    const hostPorts = [...podSpec.hostPorts, ...added];
    return { ...daemonSet, podSpec: { ...podSpec, requests, hostPorts } };
  });
}
