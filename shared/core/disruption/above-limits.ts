import type { NodePool } from '../model/provisioning.ts';
import { amountOf } from '../model/resources.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { stateNodes } from '../scheduling/problem/state-node.ts';

/** Whether what stays of the NodePool's nodes is more than its limits allow. */
export function isAboveLimits({ name, limits }: NodePool, snapshot: ClusterSnapshot): boolean {
  const counted = Object.entries(limits);
  if (counted.length === 0) return false;
  const staying = stateNodes(snapshot).filter((each) => each.isLimited && each.nodePool === name);
  return counted.some(([resource, limit]) => {
    const amounts = staying.map(({ capacity }) =>
      resource === 'nodes' ? 1 : amountOf(capacity, resource),
    );
    return amounts.reduce((sum, each) => sum + each, 0) > limit;
  });
}
