import type { Pod } from '../../shared/core/model/pod.ts';
import { podKey } from '../../shared/core/model/pod.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { World } from '../../shared/sim/world.ts';

export interface PodCount {
  readonly running: number;
  readonly succeeded: number;
  readonly pending: number;
}

/** Pods that nodes are bought for, and those that come with a cluster and its nodes. */
export interface PodCounts {
  readonly own: PodCount;
  /** Of DaemonSets and of the namespace kube-system. */
  readonly system: PodCount;
  /** Names of the pending ones among these. */
  readonly pendingSystem: ReadonlySet<string>;
}

function isSystem({ namespace, controller }: Pod): boolean {
  return namespace === 'kube-system' || controller?.kind === 'DaemonSet';
}

function countOf(pods: readonly Pod[]): PodCount {
  const inPhase = (phase: Pod['phase']): number => pods.filter((pod) => pod.phase === phase).length;
  return {
    running: inPhase('Running'),
    succeeded: inPhase('Succeeded'),
    pending: inPhase('Pending'),
  };
}

/** The pods of a simulated world as it is now. */
export function podCounts(world: World): PodCounts {
  const { pods } = readState(world.store).objects;
  const system = pods.filter(isSystem);
  const pending = system.filter((pod) => pod.phase === 'Pending');
  return {
    own: countOf(pods.filter((pod) => !isSystem(pod))),
    system: countOf(system),
    pendingSystem: new Set(pending.map(podKey)),
  };
}
