import type { Reason, ReasonCode } from '../../explain/reason.ts';
import type { Pod } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { VolumeIndex } from '../problem/volumes.ts';

/** Pods that no plan can place as they are, with what is wrong with each. */
export type FaultyPods = ReadonlyMap<Pod, readonly Reason[]>;

/** Of a pod that cannot be read, or that no plan takes for what it asks, nothing else is said. */
const FINAL: ReadonlySet<ReasonCode> = new Set([
  'pod-unreadable',
  'pod-too-complex',
  'resources-not-offered',
]);

function isReadable(faults: readonly Reason[]): boolean {
  return !faults.some(({ code }) => FINAL.has(code));
}

/**
 * The snapshot in which only these pods wait, without what is wrong with them: what else keeps them
 * from nodes can be seen there. Undefined: nothing else can be said of any.
 */
export function mended(snapshot: ClusterSnapshot, faulty: FaultyPods): ClusterSnapshot | undefined {
  const index = new VolumeIndex(snapshot);
  const waiting = [...faulty].flatMap(([pod, faults]): readonly Pod[] => {
    if (!isReadable(faults)) return [];
    const volumes = pod.spec.volumes.filter((each) => index.isUsable(pod, each));
    return [{ ...pod, spec: { ...pod.spec, volumes, hasResourceClaims: false } }];
  });
  if (waiting.length === 0) return undefined;
  // Pods on nodes that are going away may be faulty too: left as they are, they would never mend.
  const isOther = (pod: Pod) => pod.nodeName !== undefined && !faulty.has(pod);
  const others = snapshot.pods.filter(isOther);
  return { ...snapshot, pods: [...others, ...waiting] };
}
