import { membershipOf } from '../launch/fleet-group.ts';
import type { Node } from '../model/cluster.ts';
import {
  FLEET,
  type Labels,
  NODE_POOL,
  REGISTERED,
  UNREGISTERED_TAINT_KEY,
} from '../model/labels.ts';
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

/** What a node of another program's classes has, EKS Auto Mode's for instance. */
const NODE_CLASS_LABEL = /^([^/]+)\/[a-z0-9]*nodeclass$/;
const OUR_GROUP = 'karpenter.k8s.aws';

/** Whether a claim of ours has stood for the node: one of no NodePool leaves no label of a pool. */
function wasClaimed({ labels, taints }: Node): boolean {
  const groups = Object.keys(labels).flatMap((key) => NODE_CLASS_LABEL.exec(key)?.[1] ?? []);
  if (groups.length > 0) return groups.includes(OUR_GROUP);
  const isClosed = taints.some(({ key }) => key === UNREGISTERED_TAINT_KEY);
  return isClosed || labels[NODE_POOL] !== undefined || labels[REGISTERED] !== undefined;
}

/** Nodes that are being deleted and have no claim left: nothing holds them. */
export function nodesWithoutClaim(
  nodes: readonly Node[],
  claims: readonly NodeClaim[],
): readonly Node[] {
  const known = new Set(claims.flatMap((claim) => claim.providerId ?? []));
  return nodes
    .filter((node) => node.deletedAtMs !== undefined && !known.has(node.providerId ?? ''))
    .filter(wasClaimed)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
