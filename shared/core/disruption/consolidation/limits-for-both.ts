import { type Reason, reason } from '../../explain/reason.ts';
import { missing } from '../../missing.ts';
import { NODE_POOL } from '../../model/labels.ts';
import type { PlannedNodeClaim } from '../../model/plan.ts';
import { amountOf, type Resources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { stateNodes } from '../../scheduling/problem/state-node.ts';
import type { ConsolidationCandidate } from './payback.ts';

/** Of claims that are not launched yet, which have no capacity: what plans count for them. */
function plannedCapacities(snapshot: ClusterSnapshot): ReadonlyMap<string, Resources> {
  const isOpen = snapshot.nodeClaims.some(({ providerId }) => providerId === undefined);
  if (!isOpen) return new Map();
  return new Map(stateNodes(snapshot).map(({ name, capacity }) => [name, capacity]));
}

/** Pools whose limits have no room for old and new nodes together: both are there for a while. */
export function overLimits(
  snapshot: ClusterSnapshot,
  replacements: readonly PlannedNodeClaim[],
): readonly Reason[] {
  const { nodePools, nodeClaims, instanceTypes } = snapshot;
  const planned = plannedCapacities(snapshot);
  return nodePools.flatMap(({ name, limits }) => {
    const own = replacements.filter(({ nodePool }) => nodePool === name);
    if (own.length === 0) return [];
    const types = instanceTypes.get(name) ?? missing(name);
    const claims = nodeClaims.filter(({ labels }) => labels[NODE_POOL] === name);
    const isOver = Object.entries(limits).some(([resource, limit]) => {
      const amount = (capacity: Resources) =>
        resource === 'nodes' ? 1 : amountOf(capacity, resource);
      const largest = (names: readonly string[]) =>
        Math.max(
          ...types.filter((each) => names.includes(each.name)).map((each) => amount(each.capacity)),
        );
      const before = claims.map((each) => amount(planned.get(each.name) ?? each.capacity));
      const after = own.map((each) => largest(each.instanceTypes));
      return [...before, ...after].reduce((sum, each) => sum + each, 0) > limit;
    });
    return isOver ? [reason('limits-for-both', { nodePool: name })] : [];
  });
}

/** What a move takes and brings, as far as NodePools' weights matter to it. */
interface Exchange {
  readonly nodes: readonly Pick<ConsolidationCandidate, 'pool'>[];
  readonly replacements: readonly PlannedNodeClaim[];
}

/**
 * Whether several nodes would go for what a NodePool of lower weight launches. Weight says which
 * NodePool users want first, and of several nodes one may go without a launch. A single one that is
 * too large for its pods would stay for ever.
 */
export function isDemotion(
  { nodePools }: Pick<ClusterSnapshot, 'nodePools'>,
  { nodes, replacements }: Exchange,
): boolean {
  if (nodes.length === 1) return false;
  const weights = new Map(nodePools.map(({ name, weight }) => [name, weight]));
  const least = Math.max(...nodes.map(({ pool }) => pool.weight));
  return replacements.some(({ nodePool }) => (weights.get(nodePool) ?? missing(nodePool)) < least);
}
