import type {
  CsiNode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  StorageClass,
} from '../core/model/cluster.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { Pod } from '../core/model/pod.ts';
import type { NodeClaim, NodeOverlay, NodePool } from '../core/model/provisioning.ts';
import type { ResourceQuota } from '../core/model/resource-quota.ts';
import { decodeCapacityBuffer, type NamedBuffer } from './capacity-buffer.ts';
import { decodeEC2NodeClass } from './ec2-node-class.ts';
import type { Decoded } from './issue.ts';
import {
  decodeCsiNode,
  decodeDaemonSet,
  decodeNamespace,
  decodeNode,
  decodePersistentVolume,
  decodePersistentVolumeClaim,
  decodePodDisruptionBudget,
  decodeStorageClass,
} from './kubernetes/cluster.ts';
import { decodeLimitRange, type LimitRange } from './kubernetes/limit-range.ts';
import { PodDecoder } from './kubernetes/pod.ts';
import { decodeResourceQuota } from './kubernetes/resource-quota.ts';
import { decodeNodeClaim } from './node-claim.ts';
import { decodeNodeOverlay } from './node-overlay.ts';
import { decodeNodePool } from './node-pool.ts';

/** The kinds that decisions are made from, with the value that an object of each is decoded to. */
export interface ValueByKind {
  readonly NodePool: NodePool;
  readonly NodeClaim: NodeClaim;
  readonly NodeOverlay: NodeOverlay;
  readonly EC2NodeClass: NodeClass;
  readonly CapacityBuffer: NamedBuffer;
  readonly Node: Node;
  readonly Pod: Pod;
  readonly DaemonSet: DaemonSet;
  readonly LimitRange: LimitRange;
  readonly ResourceQuota: ResourceQuota;
  readonly Namespace: Namespace;
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
  readonly PersistentVolume: PersistentVolume;
  readonly StorageClass: StorageClass;
  readonly CSINode: CsiNode;
  readonly PodDisruptionBudget: PodDisruptionBudget;
}

export type Kind = keyof ValueByKind;

export type Decode<Value> = (object: unknown) => Decoded<Value>;

export type KindDecoders = {
  readonly [Each in Kind]: Decode<ValueByKind[Each]>;
};

/**
 * The decoder of each kind. Pods that one set decodes share the objects of equal specs.
 *
 * - `manifest`: unknown fields and quantities that no node can have are issues, as people who
 *   write a manifest expect.
 * - `server`: unknown fields, which a newer CRD may have, are ignored, and such quantities are
 *   capped, because an API server has accepted the object.
 */
export function kindDecoders(source: 'manifest' | 'server'): KindDecoders {
  const unknownFields = source === 'manifest' ? 'refuse' : 'ignore';
  const tooLarge = source === 'manifest' ? 'refuse' : 'cap';
  const pods = new PodDecoder(tooLarge);
  return {
    NodePool: (object) => decodeNodePool(object, unknownFields),
    NodeClaim: (object) => decodeNodeClaim(object, unknownFields),
    NodeOverlay: (object) => decodeNodeOverlay(object, unknownFields),
    EC2NodeClass: (object) => decodeEC2NodeClass(object, unknownFields),
    CapacityBuffer: (object) => decodeCapacityBuffer(object, unknownFields),
    Node: decodeNode,
    Pod: (object) => pods.decode(object),
    DaemonSet: (object) => decodeDaemonSet(object, tooLarge),
    LimitRange: decodeLimitRange,
    ResourceQuota: decodeResourceQuota,
    Namespace: decodeNamespace,
    PersistentVolumeClaim: decodePersistentVolumeClaim,
    PersistentVolume: decodePersistentVolume,
    StorageClass: decodeStorageClass,
    CSINode: decodeCsiNode,
    PodDisruptionBudget: decodePodDisruptionBudget,
  };
}
