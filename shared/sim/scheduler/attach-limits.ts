import type { Pod } from '../../core/model/pod.ts';
import { claimsOf, classOf } from './node-match.ts';
import type { NodeView, SchedulerView } from './view.ts';

/** The pod's volumes, each with the driver that attaches it. */
function volumesOf(view: SchedulerView, pod: Pod): readonly (readonly [string, string])[] {
  return claimsOf(view, pod).flatMap(({ claim }) => {
    if (claim === undefined) return [];
    const { namespace, name, volumeName } = claim;
    const volume = view.objects.persistentVolumes.find((each) => each.name === volumeName);
    const driver = volume === undefined ? classOf(view, claim)?.provisioner : volume.csiDriver;
    return driver === undefined ? [] : [[`${namespace}/${name}`, driver] as const];
  });
}

/**
 * Whether the node's drivers may attach the pod's volumes beside those of its other pods. A driver
 * that has not said how many bounds none. https://kubernetes.io/docs/concepts/storage/storage-limits/
 */
export function mayAttach(view: SchedulerView, pod: Pod, target: NodeView): boolean {
  if (pod.spec.volumes.length === 0) return true;
  const told = view.objects.csiNodes.find(({ name }) => name === target.node.name);
  if (told === undefined) return true;
  const there = new Map(target.pods.flatMap((each) => volumesOf(view, each)));
  const fresh = volumesOf(view, pod).filter(([name]) => !there.has(name));
  return fresh.every(([, driver]) => {
    const limit = told.attachLimits[driver] ?? Number.POSITIVE_INFINITY;
    const isOf = ([, each]: readonly [string, string]): boolean => each === driver;
    return [...there].filter(isOf).length + fresh.filter(isOf).length <= limit;
  });
}
