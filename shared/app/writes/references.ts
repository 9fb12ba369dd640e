import type { Node } from '../../core/model/cluster.ts';
import type { NodeClass } from '../../core/model/node-class.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import { type ClusterState, type ObjectRef, objectKey } from '../../ports.ts';

/** Names for writes; the uid keeps a write from hitting a successor of the same name. */

export function claimRef(claim: NodeClaim): ObjectRef {
  return { kind: 'NodeClaim', name: claim.name, uid: claim.uid };
}

export function poolRef(pool: NodePool): ObjectRef {
  return { kind: 'NodePool', name: pool.name, uid: pool.uid };
}

export function classRef(nodeClass: NodeClass): ObjectRef {
  return { kind: 'EC2NodeClass', name: nodeClass.name, uid: nodeClass.uid };
}

export function nodeRef(node: Node): ObjectRef {
  return { kind: 'Node', name: node.name, uid: node.uid };
}

export function podRef(pod: Pod): ObjectRef {
  return { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid };
}

/** The object as it was read: a write is refused where it has changed since. */
export function seenRef({ resourceVersions }: ClusterState, ref: ObjectRef): ObjectRef {
  const resourceVersion = resourceVersions.get(objectKey(ref));
  return resourceVersion === undefined ? ref : { ...ref, resourceVersion };
}
