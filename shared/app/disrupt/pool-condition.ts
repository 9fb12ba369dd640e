import {
  type ConditionClaim,
  sameConditions,
  withConditions,
} from '../../core/lifecycle/conditions.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import type { ConditionChange } from '../../ports.ts';
import { poolUsage } from '../planning/statuses.ts';
import { poolRef } from '../writes/references.ts';
import type { DisruptPass } from './pass.ts';

/** Writes a condition of the NodePool that is about its nodes' disruption, where it is news. */
export async function writePoolCondition(
  { ports, state, nowMs }: DisruptPass,
  pool: NodePool,
  condition: ConditionClaim,
): Promise<void> {
  const conditions: ConditionChange = (now) => withConditions(now, [condition], nowMs);
  if (sameConditions(pool.conditions, conditions(pool.conditions))) return;
  const resources = poolUsage(state, pool.name);
  const nodes = resources['nodes'] ?? 0;
  await ports.cluster.patchNodePoolStatus(poolRef(pool), { resources, nodes, conditions });
}
