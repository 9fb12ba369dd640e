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

/** What claims still have to tell kube-scheduler. */
export interface Nominations {
  /** Pods without a node, by uid. */
  readonly pending: ReadonlyMap<string, Pod>;
  /** Names of nodes that stay. A nomination to one of them is left alone, whoever has made it. */
  readonly staying: ReadonlySet<string | undefined>;
  /** By the uid of a pod: the claim that the last plan has put it on. */
  readonly plannedOn: ReadonlyMap<string, NodeClaim>;
}

/** Later plans know more: a pod that several claims name is the newest one's. */
export function readNominations({ objects }: ClusterState): Nominations {
  const pending = new Map(objects.pods.filter(isPending).map((pod) => [pod.uid, pod]));
  const claims = objects.nodeClaims.filter(({ deletedAtMs }) => deletedAtMs === undefined);
  const leaving = new Set(
    objects.nodeClaims.flatMap(({ deletedAtMs, providerId }) =>
      deletedAtMs === undefined ? [] : (providerId ?? []),
    ),
  );
  const staying = objects.nodes.filter(
    ({ deletedAtMs, providerId }) => deletedAtMs === undefined && !leaving.has(providerId ?? ''),
  );
  const inOrder = claims.toSorted(
    (a, b) => a.createdAtMs - b.createdAtMs || (a.name < b.name ? -1 : 1),
  );
  const plannedOn = inOrder.flatMap((claim) =>
    plannedPods(claim).map((uid) => [uid, claim] as const),
  );
  return {
    pending,
    staying: new Set(staying.map(({ name }) => name)),
    plannedOn: new Map(plannedOn),
  };
}

/**
 * The pods that the claim was planned for, as long as its node is not open to them. Later their
 * place may be taken, and kube-scheduler keeps others off a node for pods that do not fit there.
 */
export function awaitingPods(
  claim: NodeClaim,
  { pending, staying, plannedOn }: Nominations,
): readonly Pod[] {
  if (isTrue(claim, 'Registered')) return [];
  const own = plannedPods(claim).filter((uid) => plannedOn.get(uid) === claim);
  const pods = own.flatMap((uid) => pending.get(uid) ?? []);
  return pods.filter(({ nominatedNodeName }) => !staying.has(nominatedNodeName));
}

/** Whether a pod that the claim was planned for has no node yet. */
export function isAwaited(claim: NodeClaim, { pending }: Nominations): boolean {
  return plannedPods(claim).some((uid) => pending.has(uid));
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
