import { drainFault, isRolledOut } from '../lifecycle/drain.ts';
import { deploymentOf, type Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';

/**
 * The pods without those on draining nodes whose Deployment has been restarted since the drain
 * began: pods of another ReplicaSet come in their place, and are demand by themselves. With both, a
 * node would be launched for each, of which one is left without pods.
 */
export function withoutSuperseded(
  pods: readonly Pod[],
  nodeClaims: readonly Pick<NodeClaim, 'nodeName' | 'deletedAtMs'>[],
): readonly Pod[] {
  const drainedSince = new Map(
    nodeClaims.flatMap(({ nodeName, deletedAtMs }) =>
      nodeName === undefined || deletedAtMs === undefined ? [] : [[nodeName, deletedAtMs] as const],
    ),
  );
  if (drainedSince.size === 0) return pods;
  const sinceOf = ({ nodeName }: Pod): number | undefined => drainedSince.get(nodeName ?? '');
  const going = pods.filter(
    (pod) => sinceOf(pod) !== undefined && isRolledOut(pod) && drainFault(pod) === undefined,
  );
  if (going.length === 0) return pods;
  const byDeployment = Map.groupBy(
    pods.filter(({ controller }) => controller?.kind === 'ReplicaSet'),
    deploymentOf,
  );
  const superseded = new Set(
    going.filter((pod) =>
      (byDeployment.get(deploymentOf(pod)) ?? []).some(
        ({ controller, createdAtMs }) =>
          controller?.uid !== pod.controller?.uid &&
          createdAtMs >= (sinceOf(pod) ?? Number.POSITIVE_INFINITY),
      ),
    ),
  );
  return superseded.size === 0 ? pods : pods.filter((pod) => !superseded.has(pod));
}
