import { isReason, type Reason, reason } from '../explain/reason.ts';
import type { PlannedNodeClaim } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import type { Candidate } from './candidates.ts';
import { narrowed } from './consolidation/narrowing.ts';
import { heightOf } from './consolidation/surge-room.ts';
import { isPreferred, preferredOver, returnTermsOf } from './first-choice.ts';
import { type Places, simulate, withLeaving } from './simulation.ts';

/** What takes the place of a node that is a fallback. */
export interface Return {
  readonly kind: 'return';
  /** Each of them is tried before what the node is. */
  readonly replacements: readonly PlannedNodeClaim[];
  /** Nodes that are there already and take some of its pods. */
  readonly elsewhere: Places;
}

/** A node of a NodePool that asks for the return of its nodes. */
export interface ReturnCandidate extends Candidate {
  readonly pool: NodePool;
}

/** Why the node is too young to return, or its pool's annotation cannot be read; empty: neither. */
export function returnsLater(
  pool: NodePool,
  { createdAtMs }: Pick<NodeClaim, 'createdAtMs'>,
  nowMs: number,
): readonly Reason[] {
  const terms = returnTermsOf(pool);
  if (terms === undefined) return [];
  if (isReason(terms)) return [terms];
  const leftMs = createdAtMs + terms.afterMs - nowMs;
  if (leftMs <= 0) return [];
  return [
    reason('fallback-too-young', { nodePool: pool.name, minutes: Math.ceil(leftMs / 60_000) }),
  ];
}

/** In the same NodePool only of the capacity type that is meant: a shortage must not undo it. */
function asPreferred(
  planned: PlannedNodeClaim,
  { claim, pool }: ReturnCandidate,
  { nodePools, instanceTypes }: ClusterSnapshot,
): PlannedNodeClaim | undefined {
  if (!isPreferred(planned, claim, pool, nodePools)) return undefined;
  if (planned.nodePool !== pool.name) return planned;
  const types = instanceTypes.get(pool.name) ?? [];
  const all = { min: 1, max: types.length };
  return narrowed(planned, types, Number.POSITIVE_INFINITY, all)?.claim;
}

/**
 * All that keeps the node from its return, of which `why` is known: where its first choice is not
 * there, whether its pods need new nodes, and whether they would get them at all.
 */
export function keptFromReturn(
  why: Reason,
  snapshot: ClusterSnapshot,
  { node }: ReturnCandidate,
  settings: SchedulingSettings,
): readonly Reason[] {
  if (why.code !== 'first-choice-unavailable') return [why];
  const outcome = simulate(snapshot, node, settings);
  if (outcome.kind === 'blocked') return outcome.why.code === why.code ? [why] : [why, outcome.why];
  return outcome.replacements.length === 0 ? [reason('fallback-not-needed', {})] : [why];
}

/**
 * Why its pods would not stay where they return to: they move by a restart of their Deployment, of
 * which there are more pods meanwhile, on nodes that return in their turn. Undefined: they would.
 */
function undoneByRestart(
  snapshot: ClusterSnapshot,
  candidate: ReturnCandidate,
  elsewhere: Places,
  settings: SchedulingSettings,
): Reason | undefined {
  const { claim, node, pool } = candidate;
  const without = withLeaving(snapshot, node.name);
  const height = heightOf({ without, nodes: [candidate], elsewhere }, settings);
  if (height === undefined) return undefined;
  const { first, surge, plan } = height;
  const isPlaced = surge.every((pod) => !plan.unplaced.has(podKey(pod)));
  const moved = new Set([...surge, ...candidate.pods].map(podKey));
  const opened = plan.newNodeClaims.filter(({ pods }) => pods.some((pod) => moved.has(pod)));
  const areFirstChoice = opened.every((each) => isPreferred(each, claim, pool, snapshot.nodePools));
  if (isPlaced && areFirstChoice) return undefined;
  const why =
    'its Deployment is restarted, and the first choice has no room for the pods meanwhile';
  return reason('pod-would-wait', { pod: podKey(first), why });
}

/**
 * Plans as `provision` does, with the node gone: its pods return where they get new nodes that are
 * all tried before what the node is, whatever these cost. A reason where they do not.
 */
export function returnOf(
  snapshot: ClusterSnapshot,
  candidate: ReturnCandidate,
  settings: SchedulingSettings,
): Return | Reason {
  const { claim, node, pool } = candidate;
  const typesOf = (name: string) => snapshot.instanceTypes.get(name) ?? [];
  const preferred = preferredOver(claim, pool, snapshot.nodePools, typesOf);
  const unavailable = reason('first-choice-unavailable', {
    wanted: preferred.map(({ name }) => name),
  });
  if (!preferred.some(({ isAvailable }) => isAvailable)) return unavailable;
  const outcome = simulate(snapshot, node, settings);
  if (outcome.kind === 'blocked') return outcome.why;
  const replacements = outcome.replacements.flatMap(
    (each) => asPreferred(each, candidate, snapshot) ?? [],
  );
  if (outcome.replacements.length === 0) return reason('fallback-not-needed', {});
  if (replacements.length < outcome.replacements.length) return unavailable;
  const undone = undoneByRestart(snapshot, candidate, outcome.elsewhere, settings);
  if (undone !== undefined) return undone;
  return { kind: 'return', replacements, elsewhere: outcome.elsewhere };
}
