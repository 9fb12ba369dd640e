import { HASH_VERSION } from '../../shared/core/launch/template-hash.ts';
import { conditionOf, isTrue } from '../../shared/core/lifecycle/conditions.ts';
import type { Node } from '../../shared/core/model/cluster.ts';
import {
  ADOPTED_HASHES,
  APPROVED,
  EVICTION_ORDER,
  FAILED_CANARIES,
  FAILED_MOVES,
  HELD_MOVES,
  LAUNCH_TRIED,
  LAUNCHED_FOR,
  type Labels,
  NODE_CLASS_HASH,
  NODE_CLASS_HASH_VERSION,
  NODE_POOL_HASH,
  NODE_POOL_HASH_VERSION,
  NOMINATED_UNTIL,
  PLANNED_PODS,
  PODS_HASH,
  REPLACED_BY,
  REPLACED_FOR,
  REPLACES,
  TRIES,
  UNCONFIRMED,
  UNDONE_MOVES,
} from '../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { DISRUPTED, isDisrupted, type Taint } from '../../shared/core/model/taint.ts';

/** Annotations to remove, as a merge patch has them. */
export type Removed = Readonly<Record<string, null>>;

/** What of a NodeClaim says how far Joiner is with something. Facts about the node stay. */
const UNDER_WAY = [
  ADOPTED_HASHES,
  APPROVED,
  EVICTION_ORDER,
  HELD_MOVES,
  LAUNCHED_FOR,
  LAUNCH_TRIED,
  NOMINATED_UNTIL,
  PLANNED_PODS,
  PODS_HASH,
  REPLACED_BY,
  REPLACED_FOR,
  REPLACES,
  TRIES,
];

/** What people have set on a NodePool stays. */
const OF_POOLS = [FAILED_CANARIES, FAILED_MOVES, UNCONFIRMED, UNDONE_MOVES];

/** Conditions of NodePools that Karpenter does not know, and so would never change. */
export const POOL_CONDITIONS: ReadonlySet<string> = new Set([
  'CanaryHealthy',
  'ConsolidationHealthy',
  'MemoryReachable',
  'PricesFresh',
  'ZonesUsable',
]);

function removed(annotations: Labels, keys: readonly string[]): Removed {
  return Object.fromEntries(
    keys.filter((key) => annotations[key] !== undefined).map((key) => [key, null]),
  );
}

/** Whether a version of hashes is Joiner's, of this release or another. */
export function isOurHash(version: string | undefined): boolean {
  return version?.startsWith(HASH_VERSION.replace(/\d+$/, '')) === true;
}

const HASHES = [
  { hash: NODE_POOL_HASH, version: NODE_POOL_HASH_VERSION, drift: 'NodePoolDrifted' },
  { hash: NODE_CLASS_HASH, version: NODE_CLASS_HASH_VERSION, drift: 'NodeClassDrift' },
];

/**
 * Our hashes of a claim. Karpenter stamps its own where the version is another, but leaves the hash
 * of a claim that has drifted: there a hash of ours keeps the drift that it stands for.
 */
function hashesOf(claim: NodeClaim): readonly string[] {
  const drift = isTrue(claim, 'Drifted') ? conditionOf(claim, 'Drifted')?.reason : undefined;
  return HASHES.filter(({ version }) => isOurHash(claim.annotations[version])).flatMap((each) =>
    each.drift === drift ? [each.version] : [each.hash, each.version],
  );
}

/** What is removed from a NodeClaim before Karpenter gets it. */
export function removedFromClaim(claim: NodeClaim): Removed {
  return removed(claim.annotations, [...UNDER_WAY, ...hashesOf(claim)]);
}

/** Whether the claim says that its node is being disrupted, though nothing has deleted it. */
export function isDisruptionOpen(claim: NodeClaim): boolean {
  return claim.deletedAtMs === undefined && conditionOf(claim, 'DisruptionReason') !== undefined;
}

/**
 * What is removed from a NodePool or an EC2NodeClass: with them, its hash, whoever wrote it.
 * Karpenter stamps the hashes of claims anew only where the hash of their pool or class is not its
 * own.
 */
export function removedFromPool(annotations: Labels): Removed {
  return removed(annotations, [...OF_POOLS, NODE_POOL_HASH, NODE_POOL_HASH_VERSION]);
}

export function removedFromClass(annotations: Labels): Removed {
  return removed(annotations, [NODE_CLASS_HASH, NODE_CLASS_HASH_VERSION]);
}

/** What a node is without our marks; undefined: it has none. */
export function cleanedNode(
  node: Node,
  claim: NodeClaim | undefined,
): { readonly annotations: Removed; readonly taints: readonly Taint[] | undefined } | undefined {
  const annotations = removed(node.annotations, [NOMINATED_UNTIL]);
  const isStale = claim !== undefined && claim.deletedAtMs === undefined && isDisrupted(node);
  const isLeft = isStale && node.deletedAtMs === undefined;
  const taints = isLeft ? node.taints.filter(({ key }) => key !== DISRUPTED.key) : undefined;
  const isClean = Object.keys(annotations).length === 0 && taints === undefined;
  return isClean ? undefined : { annotations, taints };
}
