import { consolidate } from '../../shared/core/disruption/consolidation/consolidate.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import { type Cluster, consolidationOf } from './consolidation.ts';
import { poolOf } from './scheduling.ts';

export type Options = NonNullable<Parameters<typeof consolidationOf>[1]>;

/** A pool of which no node is worth its disruption: it takes a plan to find that out. */
export function strictPool(): NodePool {
  const pool = poolOf('strict');
  return { ...pool, disruption: { ...pool.disruption, consolidationPolicy: 'Balanced' } };
}

/** What a pass came to; nodes have names of one letter. */
export interface Looked {
  /** Groups that stay, in the order in which they were looked at. */
  readonly groups: readonly string[];
  readonly moves: readonly string[];
  readonly plans: number;
  readonly isExhausted: boolean;
}

/** A pass where nodes of {@link strictPool} stay. */
export function looked(cluster: Cluster, options: Options = {}): Looked {
  const pools = new Map([['strict', { pricePerHour: 1e9, disruption: 1 }]]);
  const { moves, refusals, ...rest } = consolidate(consolidationOf(cluster, { pools, ...options }));
  return {
    groups: [...refusals.keys()].map((key) => key.replaceAll('claim-', '').replaceAll(',', '')),
    moves: moves.map(({ nodes }) => nodes.map(({ node }) => node.name).join('')),
    ...rest,
  };
}
