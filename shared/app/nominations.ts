import { isTrue } from '../core/lifecycle/conditions.ts';
import { isPending, plannedPods } from '../core/lifecycle/planned-pods.ts';
import type { Node } from '../core/model/cluster.ts';
import type { Pod } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { ClusterState, Ports } from '../ports.ts';
import { atOnce } from './at-once.ts';
import { attempt, type Failure } from './attempt.ts';
import { podRef } from './references.ts';

/** More at once would only wait in the API server, and other functions' calls with them. */
const AT_ONCE_MAX = 10;

/**
 * Pods that may be nominated, by uid. A nomination to a node that is there is left alone: it is
 * kube-scheduler's own, made by a preemption, or one of ours.
 */
export function nominablePods({ objects }: ClusterState): ReadonlyMap<string, Pod> {
  const nodes = new Set<string | undefined>(objects.nodes.map(({ name }) => name));
  const pending = objects.pods.filter(isPending);
  const free = pending.filter(({ nominatedNodeName }) => !nodes.has(nominatedNodeName));
  return new Map(free.map((pod) => [pod.uid, pod]));
}

/**
 * The pods that the claim was planned for, as long as its node is not open to them. Later their
 * place may be taken, and kube-scheduler keeps others off a node for pods that do not fit there.
 */
export function awaitingPods(
  claim: NodeClaim,
  nominable: ReadonlyMap<string, Pod>,
): readonly Pod[] {
  if (isTrue(claim, 'Registered')) return [];
  return plannedPods(claim).flatMap((uid) => nominable.get(uid) ?? []);
}

/**
 * Nominates pods to a node that is about to open. What is refused is reported and keeps no node
 * closed: kube-scheduler then binds the rest of the pods as it likes.
 */
export async function nominatePods(
  { cluster }: { readonly cluster: Pick<Ports['cluster'], 'nominate'> },
  node: Node,
  pods: readonly Pod[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  await atOnce(AT_ONCE_MAX, pods, async (pod) => {
    // What was refused once is refused again, and the node waits.
    if (failures.length > 0) return;
    const nominate = async () => void (await cluster.nominate(podRef(pod), node.name));
    failures.push(...(await attempt(`Node/${node.name}`, nominate)));
  });
  return failures.slice(0, 1);
}
