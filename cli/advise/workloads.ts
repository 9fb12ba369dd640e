import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import type { Pod } from '../../shared/core/model/pod.ts';
import { amountOf, CPU } from '../../shared/core/model/resources.ts';
import { ownerOf } from '../packing/workloads.ts';

/** Pods of one workload, as people know it. */
export interface Workload {
  /** `Deployment/shop/web`. */
  readonly object: string;
  readonly pods: readonly Pod[];
}

/** `Deployment/shop/web`: what made the pod. */
export function workloadOf(pod: Pod): string {
  const { kind, name } = ownerOf(pod);
  return `${kind}/${pod.namespace}/${name}`;
}

function cpuOf({ pods }: Workload): number {
  return pods.reduce((sum, { spec }) => sum + amountOf(spec.requests, CPU), 0);
}

/** Workloads of the pods that nodes are launched for, those that request most first. */
export function workloadsOf(pods: readonly Pod[]): readonly Workload[] {
  const byWorkload = Map.groupBy(pods.filter(isReschedulable), workloadOf);
  return [...byWorkload]
    .map(([object, own]) => ({ object, pods: own }))
    .sort((a, b) => cpuOf(b) - cpuOf(a) || (a.object < b.object ? -1 : 1));
}
