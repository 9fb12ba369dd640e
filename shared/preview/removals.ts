import type { ProvisioningInput } from '../app/planning/provisioning-input.ts';
import { isPaused } from '../app/settings.ts';
import type { Catalog } from '../catalog/facts.ts';
import { listPrice } from '../catalog/list-price.ts';
import { isReschedulable } from '../core/disruption/candidates.ts';
import { isOurs } from '../core/launch/node-classes.ts';
import { conditionOf, isTrue } from '../core/lifecycle/conditions.ts';
import { expiryHold, isExpired } from '../core/lifecycle/expiry.ts';
import { missing } from '../core/missing.ts';
import { replacedUids } from '../core/model/annotations/replacements.ts';
import { nodeOfClaim, podsOnNode } from '../core/model/joins.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  REPLACED_BY,
  ZONE,
} from '../core/model/labels.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { ClusterState, DecisionRecord } from '../ports.ts';

import type { DryCluster } from './dry-cluster.ts';

/** A node that would go, now or once its replacements are ready. */
export interface Removal {
  readonly nodeClaim: string;
  readonly node: string | undefined;
  readonly nodePool: string;
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
  /** USD, list price; undefined: the catalog has none. */
  readonly pricePerHour: number | undefined;
  /** Pods that would move. */
  readonly pods: number;
  readonly action: 'remove' | 'replace';
  readonly replacedBy: readonly string[];
  readonly why: string;
}

/** Something that is said of an object. */
export interface Remark {
  /** `Kind/name`. */
  readonly object: string;
  readonly message: string;
}

/** A node that goes already, whatever is decided now. */
export interface Leaving {
  readonly nodeClaim: string;
  readonly why: string;
}

/** Claims by the uid of what they replace. */
function replacementsOf(created: readonly NodeClaim[]): ReadonlyMap<string, readonly NodeClaim[]> {
  const pairs = created.flatMap((claim) =>
    replacedUids(claim.annotations).map((uid) => ({ uid, claim })),
  );
  const byUid = Map.groupBy(pairs, ({ uid }) => uid);
  return new Map([...byUid].map(([uid, each]) => [uid, each.map(({ claim }) => claim)]));
}

/** What goes, and what is replaced once others are ready. */
export function removalsOf(
  { objects }: ClusterState,
  cluster: DryCluster,
  prices: Catalog,
  decisions: readonly DecisionRecord[],
): readonly Removal[] {
  const replacedBy = replacementsOf(cluster.created);
  const why = new Map(
    decisions
      .filter(({ action }) => action === 'delete' || action === 'replace')
      .map(({ object, message }) => [object, message]),
  );
  return objects.nodeClaims
    .filter(({ uid }) => cluster.deleted.includes(uid) || replacedBy.has(uid))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((claim) => {
      const { uid, name, labels } = claim;
      const node = nodeOfClaim(objects.nodes, claim)?.name;
      const replacements = replacedBy.get(uid) ?? [];
      return {
        nodeClaim: name,
        node,
        nodePool: labels[NODE_POOL] ?? '',
        instanceType: labels[INSTANCE_TYPE],
        zone: labels[ZONE],
        capacityType: labels[CAPACITY_TYPE],
        pricePerHour: listPrice(prices, labels),
        pods: podsOnNode(objects.pods, node).filter(isReschedulable).length,
        action: replacements.length > 0 ? ('replace' as const) : ('remove' as const),
        replacedBy: replacements.map((each) => each.name),
        why: why.get(`NodeClaim/${name}`) ?? missing(`a decision on NodeClaim/${name}`),
      };
    });
}

/** A node that is not as it should be. */
export interface Drifted {
  readonly nodeClaim: string;
  readonly reason: string;
  readonly message: string;
}

/** Nodes that differ from what their NodePool and EC2NodeClass ask for, whether they go now or not. */
export function driftOf({ objects }: ClusterState): readonly Drifted[] {
  const inOrder = objects.nodeClaims.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return inOrder.flatMap((claim) => {
    const drifted = conditionOf(claim, 'Drifted');
    if (drifted?.status !== 'True') return [];
    const { reason, message } = drifted;
    return [{ nodeClaim: claim.name, reason, message }];
  });
}

/** What is said of a node that would have expired. */
export const EXPIRY_HELD =
  'it is older than spec.expireAfter: expiration waits for the end of a pause or a zonal shift';

function heldExpiries(state: ClusterState, nowMs: number): readonly Remark[] {
  return state.objects.nodeClaims
    .filter((claim) => isOurs(claim.nodeClassRef) && isExpired(claim, nowMs))
    .filter((claim) => leavingBecause(claim, state, nowMs) === undefined)
    .map(({ name }) => ({ object: `NodeClaim/${name}`, message: EXPIRY_HELD }))
    .sort((a, b) => (a.object < b.object ? -1 : 1));
}

/** What waits: NodePools that are not ready, and nodes that may not go. */
export function heldOf(
  { pools }: Pick<ProvisioningInput, 'pools'>,
  { events }: DryCluster,
  state: ClusterState,
  nowMs: number,
): readonly Remark[] {
  const unready = pools.flatMap((pool) => {
    const ready = conditionOf(pool, 'Ready');
    if (ready === undefined || ready.status === 'True') return [];
    return [{ object: `NodePool/${pool.name}`, message: ready.message }];
  });
  // The same is said of a claim and of its node.
  const blocked = events
    .filter(({ reason, regarding }) => reason === 'DisruptionBlocked' && regarding.kind !== 'Node')
    .map(({ regarding, message }) => ({ object: `${regarding.kind}/${regarding.name}`, message }));
  return [...unready, ...blocked, ...heldExpiries(state, nowMs)];
}

function isExpiryHeld(
  claim: NodeClaim,
  { objects, pausedUntilMs }: ClusterState,
  nowMs: number,
): boolean {
  const { launch, disrupt } = pausedUntilMs;
  const isAllPaused = isPaused(launch, nowMs) || isPaused(disrupt, nowMs);
  return isAllPaused || expiryHold(objects.nodePools, nowMs)(claim);
}

/** Why the claim's node goes whatever is decided now; undefined: it does not. */
export function leavingBecause(
  claim: NodeClaim,
  state: ClusterState,
  nowMs: number,
): string | undefined {
  const { deletedAtMs, annotations } = claim;
  if (deletedAtMs !== undefined) return 'it is being drained and terminated';
  const replacedBy = annotations[REPLACED_BY];
  if (replacedBy !== undefined) return `it goes once ${replacedBy} is ready`;
  if (isTrue(claim, 'DisruptionReason')) {
    return `it is kept from new pods (${conditionOf(claim, 'DisruptionReason')?.reason})`;
  }
  if (!isExpired(claim, nowMs) || isExpiryHeld(claim, state, nowMs)) return undefined;
  return 'it is older than spec.expireAfter: lifecycle deletes it';
}

/** Nodes of ours that go already, by name. */
export function leavingOf(state: ClusterState, nowMs: number): readonly Leaving[] {
  return state.objects.nodeClaims
    .filter(({ nodeClassRef }) => isOurs(nodeClassRef))
    .flatMap((claim) => {
      const why = leavingBecause(claim, state, nowMs);
      return why === undefined ? [] : [{ nodeClaim: claim.name, why }];
    })
    .toSorted((a, b) => (a.nodeClaim < b.nodeClaim ? -1 : 1));
}
