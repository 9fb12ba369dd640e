import { driftResults, targetsOf } from '../../shared/app/disrupt/drift-results.ts';
import { adoptionStamps } from '../../shared/core/disruption/drift.ts';
import { isOurs } from '../../shared/core/launch/node-classes.ts';
import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import { conditionOf, isTrue } from '../../shared/core/lifecycle/conditions.ts';
import {
  FLEET,
  NODE_CLASS_HASH_VERSION,
  NODE_POOL,
  NODE_POOL_HASH_VERSION,
} from '../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { isOurHash } from './marks.ts';
import type { NodeBefore } from './record.ts';

/** NodeClaims of EC2NodeClasses that are not being deleted, by name. */
export function liveClaims({ objects }: ClusterState): readonly NodeClaim[] {
  return objects.nodeClaims
    .filter(({ nodeClassRef, deletedAtMs }) => isOurs(nodeClassRef) && deletedAtMs === undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a controller has begun and would not have finished, a line for each. */
export function unfinished(state: ClusterState): readonly string[] {
  return liveClaims(state).flatMap((claim) => {
    const { name, providerId } = claim;
    if (providerId === undefined) return [`NodeClaim ${name} is not launched yet`];
    if (isTrue(claim, 'Rebooting')) return [`the node of NodeClaim ${name} is being rebooted`];
    const disrupted = conditionOf(claim, 'DisruptionReason');
    if (disrupted?.status !== 'True') return [];
    return [`the node of NodeClaim ${name} is being disrupted (${disrupted.reason})`];
  });
}

/** Names of claims whose launch EC2 was asked for, and that do not know their instance yet. */
export function unansweredLaunches(state: ClusterState): readonly string[] {
  return liveClaims(state)
    .filter(
      ({ providerId, annotations }) => providerId === undefined && annotations[FLEET] !== undefined,
    )
    .map(({ name }) => name);
}

/** Hashes do not depend on instance types. */
const NO_TYPES = { instanceTypes: new Map(), byNodeClass: new Map(), overlays: [] };

/** Names of initialised claims that do not have Joiner's hashes of this version yet. */
export function unstampedByJoiner(state: ClusterState, nowMs: number): readonly string[] {
  const targets = targetsOf({}, state, NO_TYPES);
  return [...driftResults(state, targets, nowMs).values()]
    .filter(({ claim, target }) => Object.keys(adoptionStamps(claim, target)).length > 0)
    .map(({ claim }) => claim.name)
    .sort();
}

/** Claims that Karpenter has not stamped with hashes of its own, and why not to wait for one. */
export function unstampedByKarpenter(state: ClusterState): readonly NodeClaim[] {
  const pools = new Set(state.objects.nodePools.map(({ name }) => name));
  const classes = new Set(state.nodeClasses.map(({ name }) => name));
  const isForeign = (version: string | undefined): boolean =>
    version !== undefined && !isOurHash(version);
  return liveClaims(state).filter(({ labels, annotations, nodeClassRef }) => {
    const isPoolDone =
      !pools.has(labels[NODE_POOL] ?? '') || isForeign(annotations[NODE_POOL_HASH_VERSION]);
    const isClassDone =
      !classes.has(nodeClassRef.name) || isForeign(annotations[NODE_CLASS_HASH_VERSION]);
    return !isPoolDone || !isClassDone;
  });
}

/** The nodes as the record keeps them. */
export function nodesBefore(state: ClusterState): readonly NodeBefore[] {
  return liveClaims(state).map((claim) => ({
    claim: claim.name,
    instance: instanceIdOf(claim.providerId) ?? '',
    isDrifted: isTrue(claim, 'Drifted'),
  }));
}

/** What has become of the nodes since. */
export interface NodesSince {
  /** Claims that are there as before. */
  readonly kept: number;
  /** Claims that are gone or are being deleted. */
  readonly gone: readonly string[];
  /** Claims that have another instance than before. */
  readonly relaunched: readonly string[];
  /** Claims that were not there. */
  readonly added: readonly string[];
  /** Claims that have drifted since, with the reason. */
  readonly drifted: readonly string[];
}

export function nodesSince(before: readonly NodeBefore[], state: ClusterState): NodesSince {
  const now = new Map(liveClaims(state).map((claim) => [claim.name, claim]));
  const known = new Map(before.map((each) => [each.claim, each]));
  const instance = (name: string): string => instanceIdOf(now.get(name)?.providerId) ?? '';
  const isOther = ({ claim, instance: was }: NodeBefore): boolean =>
    now.has(claim) && was !== '' && instance(claim) !== was;
  const relaunched = before.filter(isOther).map(({ claim }) => claim);
  const gone = before.filter(({ claim }) => !now.has(claim)).map(({ claim }) => claim);
  const drifted = [...now.values()].filter(
    (claim) => isTrue(claim, 'Drifted') && known.get(claim.name)?.isDrifted !== true,
  );
  return {
    kept: before.length - gone.length - relaunched.length,
    gone,
    relaunched,
    added: [...now.keys()].filter((name) => !known.has(name)),
    drifted: drifted.map(
      (claim) => `${claim.name} (${conditionOf(claim, 'Drifted')?.reason ?? ''})`,
    ),
  };
}
