import { missing } from '../../missing.ts';
import type { PodClass } from '../problem/problem.ts';
import { copyHost, type HostRule, type HostState } from '../search/host.ts';
import type { Bin, ExistingNode } from '../search/search-state.ts';
import type { Place } from '../search/topology.ts';

/** Instead of the number of a domain: all of them. */
export const ANY_DOMAIN = -1;

/** A node as kube-scheduler sees it. */
export interface SchedulerNode {
  readonly place: Place;
  readonly existing: ExistingNode | undefined;
  readonly bin: Bin | undefined;
  /** For the score: what the node has in all. */
  readonly total: Float64Array;
  /** What neither bound nor nominated pods take. */
  free: Float64Array;
  host: HostState;
  /** Both are this playback's; before that others read them too. */
  isOwn: boolean;
  /** Pods planned on it. */
  readonly content: ReadonlyMap<PodClass, number>;
  /** Number of its combination of topology values, the hostname apart. */
  readonly domain: number;
}

/** A class in kube-scheduler's eyes. */
export interface SchedulerClass {
  readonly podClass: PodClass;
  readonly rule: HostRule;
  /** Indexes of the resources that it requests, and how much. */
  readonly resources: Int32Array;
  readonly amounts: Float64Array;
  /** Candidates of one shape may run on the same nodes and request the same. */
  readonly shape: number;
  /** Its place depends on pods of other nodes, if only by preference. */
  readonly isTied: boolean;
  /**
   * Required terms about other pods are its own or count it: a planned node may be closed to it.
   */
  readonly isBound: boolean;
  /** Ids of classes to which its pods may open nodes that were closed. */
  readonly helps: readonly number[];
  /** It prefers some nodes over others by their labels or taints. */
  readonly hasPreferences: boolean;
  readonly softHostSpreads: readonly number[];
  readonly softHostAffinity: readonly { readonly selector: number; readonly weight: number }[];
}

/** To be called before what is free of the node, or its host state, changes. */
export function own(node: SchedulerNode): void {
  if (node.isOwn) return;
  node.free = node.free.slice();
  node.host = copyHost(node.host);
  node.isOwn = true;
}

/** Whether the candidate's requests fit into what is free. */
export function fitsFree(
  { resources, amounts }: SchedulerClass,
  { free }: Pick<SchedulerNode, 'free'>,
): boolean {
  for (let at = 0; at < resources.length; at++) {
    if (
      (amounts[at] ?? missing(at)) >
      (free[resources[at] ?? missing(at)] ?? missing(resources[at] ?? missing(at)))
    )
      return false;
  }
  return true;
}
