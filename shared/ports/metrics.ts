import type { Node } from '../core/model/cluster.ts';
import type { Pod } from '../core/model/pod.ts';
import type { NodeClaim, NodePool } from '../core/model/provisioning.ts';
import type { Resources } from '../core/model/resources.ts';

/** When a pod came so far, by its conditions; undefined: it has not. */
export interface PodTimes {
  readonly boundAtMs: number | undefined;
  readonly readyAtMs: number | undefined;
}

/** What is read of a cluster for its gauges. */
export interface ClusterView {
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodePools: readonly NodePool[];
  /** `status.resources` by NodePool. */
  readonly usage: ReadonlyMap<string, Resources>;
  readonly pods: readonly Pod[];
  /** By uid of the pod. */
  readonly podTimes: ReadonlyMap<string, PodTimes>;
}
