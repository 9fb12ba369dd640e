import { RESOURCES, type Resource } from '../shared/api/resources.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { isKubeFault } from '../shared/kube/errors.ts';
import { listCall } from '../shared/kube/list.ts';

/** What a command lists to know a cluster; docs/viewer-role.yaml grants it. */
const LISTED: readonly Resource[] = [
  RESOURCES.nodePools,
  RESOURCES.nodeClaims,
  RESOURCES.nodeOverlays,
  RESOURCES.nodeClasses,
  RESOURCES.capacityBuffers,
  RESOURCES.nodes,
  RESOURCES.pods,
  RESOURCES.persistentVolumes,
  RESOURCES.persistentVolumeClaims,
  RESOURCES.namespaces,
  RESOURCES.limitRanges,
  RESOURCES.daemonSets,
  RESOURCES.storageClasses,
  RESOURCES.csiNodes,
  RESOURCES.volumeAttachments,
  RESOURCES.podDisruptionBudgets,
  RESOURCES.leases,
];

/** As kubectl names a resource: `nodepools.karpenter.sh`. */
function named({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

async function isRefused(client: KubeClient, resource: Resource): Promise<boolean> {
  const call = listCall({ resource, metadataOnly: true }, { limit: 1 });
  try {
    await client.json(call);
    return false;
  } catch (error) {
    if (isKubeFault(error, 'forbidden')) return true;
    // A kind that is not installed, or a bad moment: the command itself says so.
    return false;
  }
}

/** All that the caller may not list, not only what was asked for first. */
export async function refusedReads(client: KubeClient): Promise<readonly string[]> {
  const refused = await Promise.all(LISTED.map((each) => isRefused(client, each)));
  return LISTED.filter((_, index) => refused[index]).map(named);
}
