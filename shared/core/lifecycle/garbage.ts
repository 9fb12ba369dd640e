import { FLEET, membershipOf } from '../launch/fleet-group.ts';
import type { Node } from '../model/cluster.ts';
import { type Labels, NODE_POOL } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { instanceIdOf } from './actions.ts';

/** Instances younger than this may belong to a claim whose status is still being written. */
const GRACE_MS = 30_000;

interface OwnedInstance {
  readonly id: string;
  readonly launchedAtMs: number;
  readonly state: string;
  readonly tags: Labels;
}

/** Instances with our tags that no claim stands for and that no launch in progress will adopt. */
export function orphanedInstances<Known extends OwnedInstance>(
  instances: readonly Known[],
  claims: readonly NodeClaim[],
  nowMs: number,
): readonly Known[] {
  const owned = new Set(claims.map((claim) => instanceIdOf(claim.providerId)));
  // A claim that no fleet was asked for yet waits for no instance.
  const launching = new Set(
    claims
      .filter((claim) => claim.providerId === undefined && claim.deletedAtMs === undefined)
      .flatMap((claim) => membershipOf(claim)?.token ?? []),
  );
  return instances
    .filter((each) => !owned.has(each.id) && !launching.has(each.tags[FLEET] ?? ''))
    .filter((each) => each.state !== 'shutting-down' && nowMs - each.launchedAtMs > GRACE_MS)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Nodes of NodePools that are being deleted and have no claim left: nothing holds them. */
export function forsakenNodes(
  nodes: readonly Node[],
  claims: readonly NodeClaim[],
): readonly Node[] {
  const known = new Set(claims.map((claim) => claim.providerId));
  return nodes
    .filter((node) => node.deletedAtMs !== undefined && !known.has(node.providerId))
    .filter((node) => node.labels[NODE_POOL] !== undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
