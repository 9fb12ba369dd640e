import { trialOf, triedStates } from '../../core/disruption/canary.ts';
import { patienceMs } from '../../core/disruption/commands.ts';
import {
  adoptionStamps,
  compared,
  type Drift,
  type DriftTarget,
  driftTarget,
} from '../../core/disruption/drift.ts';
import { sentence } from '../../core/explain/reason.ts';
import { isOurs, isUsable, nodeClassOf } from '../../core/launch/node-classes.ts';
import { HASH_VERSION, nodeClassHash, nodePoolHash } from '../../core/launch/template-hash.ts';
import {
  conditionOf,
  isTrue,
  sameConditions,
  withConditions,
} from '../../core/lifecycle/conditions.ts';
import type { Condition } from '../../core/model/cluster.ts';
import { NODE_POOL, TRIES } from '../../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import type { ClusterState, ConditionChange, Ports } from '../../ports.ts';
import type { Resolution } from '../planning/provisioning-input.ts';
import { claimRef } from '../writes/references.ts';
import { markClaims } from './mark-claims.ts';
import type { Canary, DisruptPass, DriftResult } from './pass.ts';

function targetOf(
  state: ClusterState,
  pool: NodePool,
  resolution: Resolution,
  isCatalogCurrent: boolean,
): DriftTarget {
  const known = nodeClassOf(state, pool.template.nodeClassRef);
  const nodeClass = known !== undefined && isUsable(known) ? known : undefined;
  return driftTarget({
    pool,
    poolHash: nodePoolHash(pool),
    nodeClass,
    nodeClassHash: nodeClass === undefined ? '' : nodeClassHash(nodeClass),
    hashVersion: HASH_VERSION,
    types: resolution.byNodeClass.get(nodeClass?.name ?? '') ?? [],
    isCatalogCurrent,
  });
}

/** What claims are compared with, by the name of their NodePool; pools that are in use. */
export type Targets = ReadonlyMap<string, DriftTarget>;

export function targetsOf(
  { isCatalogCurrent = () => true }: Pick<Ports, 'isCatalogCurrent'>,
  state: ClusterState,
  resolution: Resolution,
): Targets {
  return new Map(
    state.objects.nodePools
      .filter(({ isDeleting, template }) => !isDeleting && isOurs(template.nodeClassRef))
      .map((pool) => [pool.name, targetOf(state, pool, resolution, isCatalogCurrent())]),
  );
}

/**
 * Claims of NodePools that are in use, against what the pools ask for now. One that still starts is
 * left to `lifecycle`, one without a pool is compared with nothing.
 */
export function driftResults(
  state: ClusterState,
  targets: Targets,
  nowMs: number,
): ReadonlyMap<string, DriftResult> {
  const results = new Map<string, DriftResult>();
  for (const claim of state.objects.nodeClaims) {
    const target = targets.get(claim.labels[NODE_POOL] ?? '');
    if (target === undefined || claim.deletedAtMs !== undefined) continue;
    if (!isOurs(claim.nodeClassRef) || !isTrue(claim, 'Initialized')) continue;
    results.set(claim.uid, { claim, target, ...compared(claim, target, nowMs) });
  }
  return results;
}

/** What nodes have tried that are ready at this moment. */
export function provenStates(
  { objects: { nodes } }: ClusterState,
  results: ReadonlyMap<string, DriftResult>,
): ReadonlySet<string> {
  const ready = new Set(
    nodes.filter((node) => isTrue(node, 'Ready')).map(({ providerId }) => providerId),
  );
  const tried = [...results.values()].filter(({ claim }) => ready.has(claim.providerId));
  return new Set(tried.flatMap(({ states }) => states));
}

/**
 * Nodes that are or were the first of something new, whatever has become of what they replace.
 * A class may change between the plan and the launch: what the claim has got counts, too.
 */
export function canariesOf(
  { objects: { nodeClaims } }: ClusterState,
  targets: Targets,
  proven: ReadonlySet<string>,
  nowMs: number,
): readonly Canary[] {
  const waitMs = patienceMs(nodeClaims);
  return nodeClaims.flatMap((claim): readonly Canary[] => {
    const made = triedStates(claim);
    if (claim.annotations[TRIES] === undefined || !isOurs(claim.nodeClassRef)) return [];
    const target = targets.get(claim.labels[NODE_POOL] ?? '');
    const got = target === undefined ? [] : compared(claim, target, nowMs).states;
    const states = [...new Set([...made, ...got])].filter((each) => !proven.has(each)).sort();
    return [{ claim, states, trial: trialOf(claim, waitMs, nowMs) }];
  });
}

/** The list with the condition Drifted as it should be; without it where nothing differs. */
function withDrift(
  conditions: readonly Condition[],
  drift: Drift | undefined,
  nowMs: number,
): readonly Condition[] {
  if (drift === undefined) return conditions.filter(({ type }) => type !== 'Drifted');
  const { reason, why } = drift;
  const message = sentence(why);
  return withConditions(conditions, [{ type: 'Drifted', status: 'True', reason, message }], nowMs);
}

async function mark({ ports, nowMs }: DisruptPass, result: DriftResult): Promise<void> {
  const { claim, target, drifts, isUndecided } = result;
  // A class that is not ready for a moment says neither that the claim differs nor that it does not.
  if (target.nodeClass === undefined || (drifts.length === 0 && isUndecided)) return;
  const conditions: ConditionChange = (now) => withDrift(now, drifts[0], nowMs);
  if (sameConditions(claim.conditions, conditions(claim.conditions))) return;
  await ports.cluster.patchNodeClaimStatus(claimRef(claim), { conditions });
}

async function adopt({ ports }: DisruptPass, { claim, target }: DriftResult): Promise<void> {
  const annotations = adoptionStamps(claim, target);
  if (Object.keys(annotations).length === 0) return;
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
}

/** The condition Drifted of every claim, and our hashes on those that others have made. */
export async function markDrift(pass: DisruptPass): Promise<void> {
  const { ports, driftResults: results } = pass;
  const all = [...results.values()].sort((a, b) => (a.claim.name < b.claim.name ? -1 : 1));
  const drifted = all.filter(({ drifts }) => drifts.length > 0);
  ports.recorder.measure?.('voluntary_disruption_eligible_nodes', drifted.length);
  await markClaims(pass, all, async (each) => {
    await mark(pass, each);
    await adopt(pass, each);
  });
}

/** Since when the claim differs: the oldest drift goes first. */
export function driftedSinceMs({ nowMs }: DisruptPass, claim: NodeClaim): number {
  return conditionOf(claim, 'Drifted')?.lastTransitionAtMs ?? nowMs;
}
