import { RESOURCES } from '../shared/api/resources.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { listEach, uidOf } from '../shared/kube/list.ts';

/**
 * What tells a cluster from all others, whatever it is called and however it is reached: the uid of
 * its namespace kube-system. Listed, since who may list namespaces need not be allowed to get one.
 */
export async function clusterUid(client: KubeClient): Promise<string> {
  let uid = '';
  await listEach(
    client,
    {
      resource: RESOURCES.namespaces,
      fieldSelector: 'metadata.name=kube-system',
      metadataOnly: true,
    },
    {
      start: () => {
        uid = '';
      },
      object: (namespace) => {
        uid = uidOf(namespace);
      },
    },
  );
  if (uid === '') throw new Error('the cluster does not show its namespace kube-system');
  return uid;
}
