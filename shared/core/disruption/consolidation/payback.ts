import type { NodePool } from '../../model/provisioning.ts';
import type { Candidate } from '../candidates.ts';
import { paidEvictionsOf } from './eviction-cost.ts';

const HOUR_MS = 3_600_000;

/** When a move of pods is worth it. */
export interface ConsolidationSettings {
  /** A move has to have saved what it costs within this time. */
  readonly horizonMs: number;
  /** USD that the eviction of an ordinary pod counts as. */
  readonly evictionPrice: number;
  /** Whether a spot node may be replaced by a cheaper spot node. */
  readonly spotToSpot: boolean;
}

export const DEFAULT_CONSOLIDATION_SETTINGS: ConsolidationSettings = {
  horizonMs: 4 * HOUR_MS,
  evictionPrice: 0.02,
  spotToSpot: false,
};

/** How long old and new nodes are both paid for: until the new ones are ready and the old drained. */
const OVERLAP_MS = 5 * 60_000;

/** A node with pods, and what it costs. */
export interface ConsolidationCandidate extends Candidate {
  readonly pool: NodePool;
  /** USD an hour of its own offering, after overlays. */
  readonly pricePerHour: number;
  readonly isSpot: boolean;
  /** It is not what its NodePool asks for: what comes in its place is the business of drift. */
  readonly isDrifted: boolean;
  readonly evictionCost: number;
}

/** All nodes of a pool together. */
export interface PoolUse {
  readonly pricePerHour: number;
  readonly disruption: number;
  /** How long what a move of its nodes saves is saved. @default as long as the horizon */
  readonly savingsLastMs?: number | undefined;
}

/** What a move brings and what it takes. */
export interface Balance {
  /** USD an hour. */
  readonly saving: number;
  /** USD, once. */
  readonly cost: number;
}

/** `after`: USD an hour of what comes in the nodes' place. */
export function balanceOf(
  nodes: readonly ConsolidationCandidate[],
  after: number,
  { evictionPrice }: ConsolidationSettings,
): Balance {
  const before = nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const evictions = nodes.reduce((sum, { pods }) => sum + paidEvictionsOf(pods), 0);
  const cost = evictions * evictionPrice + (after * OVERLAP_MS) / HOUR_MS;
  return { saving: before - after, cost };
}

/** After how long the move has saved what it costs. */
export function paybackMs({ saving, cost }: Balance): number {
  return saving <= 0 ? Number.POSITIVE_INFINITY : (cost / saving) * HOUR_MS;
}

/** USD that the move has saved at the horizon; less than 0: it does not pay back. */
export function gainOf({ saving, cost }: Balance, { horizonMs }: ConsolidationSettings): number {
  return (saving * horizonMs) / HOUR_MS - cost;
}

/** A node's weight in its pool: itself, and what its pods' eviction counts as. */
export function disruptionOf({
  evictionCost,
}: Pick<ConsolidationCandidate, 'evictionCost'>): number {
  return 1 + evictionCost;
}

/** A share of the pool's price is worth up to twice that share of its disruption. */
const SCORE_MIN = 0.5;

/**
 * Whether pools with the policy `Balanced` take the move: the share of a pool's price that it saves
 * is set against the share of its nodes and pods that it disrupts. What a move across pools saves
 * is split by what its nodes cost.
 * https://github.com/kubernetes-sigs/karpenter/blob/main/designs/balanced-consolidation.md
 */
export function isBalanced(
  nodes: readonly ConsolidationCandidate[],
  { saving }: Balance,
  pools: ReadonlyMap<string, PoolUse>,
): boolean {
  const before = nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const byPool = Map.groupBy(nodes, ({ pool }) => pool);
  return [...byPool].every(([pool, own]) => {
    if (pool.disruption.consolidationPolicy !== 'Balanced') return true;
    const all = pools.get(pool.name);
    if (all === undefined || before === 0) return false;
    const price = own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const disruption = own.reduce((sum, each) => sum + disruptionOf(each), 0);
    const savedShare = (saving * (price / before)) / all.pricePerHour;
    return savedShare >= SCORE_MIN * (disruption / all.disruption);
  });
}
