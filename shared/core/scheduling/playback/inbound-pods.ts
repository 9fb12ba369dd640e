import { missing } from '../../missing.ts';
import { amountOf } from '../../model/resources.ts';
import type { Problem } from '../problem/problem.ts';
import { fitsFree } from '../search/search-context.ts';
import { own, type SchedulerNode } from './scheduler-node.ts';

/**
 * Pods that will go to nodes which are there already, once they are evicted elsewhere. Plans leave
 * their room alone; kube-scheduler does not know of them, and binds others there that come first.
 */
export class InboundPods {
  private readonly pods: readonly {
    /** Of its node among all. */
    readonly at: number;
    readonly requests: Float64Array;
  }[];

  /** Gives the nodes the room back that these pods have in the plan. */
  constructor({ staying, resources }: Problem, nodes: readonly SchedulerNode[]) {
    this.pods = nodes.flatMap(({ existing }, at) => {
      const kept = existing === undefined ? [] : (staying.get(existing.node) ?? []);
      return kept
        .filter(({ isInbound }) => isInbound)
        .map(({ spec }) => {
          const requests = Float64Array.from(resources, (name) => amountOf(spec.requests, name));
          return { at, requests };
        });
    });
    for (const { at, requests } of this.pods) add(nodes[at] ?? missing(at), requests, 1);
  }

  /** What the pods request whose room others have taken, on the same nodes after a playback. */
  withoutRoom(nodes: readonly SchedulerNode[]): readonly Float64Array[] {
    return this.pods.flatMap(({ at, requests }) => {
      const node = nodes[at] ?? missing(at);
      if (!fitsFree(requests, node.free)) return [requests];
      add(node, requests, -1);
      return [];
    });
  }
}

function add(node: SchedulerNode, requests: Float64Array, sign: 1 | -1): void {
  own(node);
  const { free } = node;
  for (const [r, amount] of requests.entries()) free[r] = (free[r] ?? 0) + sign * amount;
}
