import { decodeEC2NodeClass } from '../api/ec2-node-class.ts';
import {
  decodeCsiNode,
  decodeDaemonSet,
  decodeNamespace,
  decodeNode,
  decodePersistentVolume,
  decodePersistentVolumeClaim,
  decodePodDisruptionBudget,
  decodeStorageClass,
} from '../api/kubernetes/cluster.ts';
import { PodDecoder } from '../api/kubernetes/pod.ts';
import { decodeNodeClaim } from '../api/node-claim.ts';
import { decodeNodeOverlay } from '../api/node-overlay.ts';
import { decodeNodePool } from '../api/node-pool.ts';
import type { ClusterDecoders } from './decoders.ts';

/**
 * The project's decoders; pods of one set share the objects of equal specs. Fields that a newer CRD
 * has are let by, and so are amounts that no node has.
 */
export function apiDecoders(): ClusterDecoders {
  const pods = new PodDecoder('cap');
  return {
    nodePool: (object) => decodeNodePool(object, 'ignore'),
    nodeClaim: (object) => decodeNodeClaim(object, 'ignore'),
    nodeOverlay: (object) => decodeNodeOverlay(object, 'ignore'),
    nodeClass: (object) => decodeEC2NodeClass(object, 'ignore'),
    node: decodeNode,
    pod: (object) => pods.decode(object),
    daemonSet: (object) => decodeDaemonSet(object, 'cap'),
    namespace: decodeNamespace,
    persistentVolumeClaim: decodePersistentVolumeClaim,
    persistentVolume: decodePersistentVolume,
    storageClass: decodeStorageClass,
    csiNode: decodeCsiNode,
    podDisruptionBudget: decodePodDisruptionBudget,
  };
}
