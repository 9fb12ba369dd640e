import { amountOf } from '../../model/resources.ts';
import type { Problem } from '../problem/problem.ts';
import { fitsFree } from '../search/search-context.ts';
import type { SchedulerNode } from './scheduler-node.ts';

/**
 * Pods that will go to nodes which are there already, once they are evicted elsewhere. Plans leave
 * their room alone; kube-scheduler does not know of them, and binds others there that come first.
 */
export class InboundPods {
  private readonly pods: readonly {
    readonly node: SchedulerNode;
    readonly requests: Float64Array;
  }[];

  /** Gives the nodes the room back that these pods have in the plan. */
  constructor({ staying, resources }: Problem, nodes: readonly SchedulerNode[]) {
    this.pods = nodes.flatMap((node) => {
      const own = node.existing === undefined ? [] : (staying.get(node.existing.node) ?? []);
      return own
        .filter(({ isInbound }) => isInbound)
        .map(({ spec }) => {
          const requests = Float64Array.from(resources, (name) => amountOf(spec.requests, name));
          return { node, requests };
        });
    });
    for (const { node, requests } of this.pods) add(node.free, requests, 1);
  }

  /** What the pods request whose room others have taken. */
  withoutRoom(): readonly Float64Array[] {
    return this.pods.flatMap(({ node, requests }) => {
      if (!fitsFree(requests, node.free)) return [requests];
      add(node.free, requests, -1);
      return [];
    });
  }
}

function add(free: Float64Array, requests: Float64Array, sign: 1 | -1): void {
  for (const [r, amount] of requests.entries()) free[r] = (free[r] ?? 0) + sign * amount;
}
