import { NODE_CLASS_HASH, NODE_POOL_HASH, NODE_POOL_HASH_VERSION } from '../model/labels.ts';
import type { NodeClass } from '../model/node-class.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import { driftHash } from './drift-hash.ts';

/**
 * Our own: hashes are never compared across tools. Whoever changes what is hashed raises it; claims
 * of another version are stamped anew instead of being replaced.
 */
export const HASH_VERSION = 'joiner-v2';

/** Fields that say which objects to use, not what a node is: they cause no drift by hash. */
const NOT_HASHED: ReadonlySet<string> = new Set([
  'subnetSelectorTerms',
  'securityGroupSelectorTerms',
  'amiSelectorTerms',
  'capacityReservationSelectorTerms',
  'ipPrefixCount',
  // It counts as what it comes to: an alias says the same.
  'amiFamily',
]);

/** What of an EC2NodeClass makes a node drift when it changes. */
export function nodeClassHash(nodeClass: NodeClass): string {
  const kept = Object.entries(nodeClass.spec).filter(([key]) => !NOT_HASHED.has(key));
  const { imageFamily } = nodeClass;
  return driftHash({ ...Object.fromEntries(kept), imageFamily });
}

/** Which nodes were started by the EC2NodeClass as it is now, as far as their claims say. */
export function hasSpecOf(nodeClass: NodeClass): (claim: NodeClaim) => boolean {
  const hash = nodeClassHash(nodeClass);
  return ({ annotations }) => (annotations[NODE_CLASS_HASH] ?? hash) === hash;
}

/** What of a NodePool makes a node drift when it changes: the template without requirements. */
export function nodePoolHash(pool: NodePool): string {
  const { requirements: _, ...template } = pool.template;
  return driftHash(template);
}

/** The hash annotations, as Karpenter names them, with our own version. */
export function nodePoolHashAnnotations(pool: NodePool): Readonly<Record<string, string>> {
  return { [NODE_POOL_HASH]: nodePoolHash(pool), [NODE_POOL_HASH_VERSION]: HASH_VERSION };
}
