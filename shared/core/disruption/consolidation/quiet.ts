import { conditionOf } from '../../lifecycle/conditions.ts';
import { type Candidate, isMoving } from '../candidates.ts';

/** The last time that a pod has come to the node or begun to leave it, as far as its pods say. */
function lastPodEventMs({ claim, pods }: Pick<Candidate, 'claim' | 'pods'>): number {
  const times = pods
    .filter(({ controller }) => controller?.kind !== 'DaemonSet' && controller?.kind !== 'Node')
    .map((pod) =>
      isMoving(pod) ? (pod.startedAtMs ?? pod.createdAtMs) : (pod.deletedAtMs ?? pod.createdAtMs),
    );
  return Math.max(conditionOf(claim, 'Initialized')?.lastTransitionAtMs ?? 0, ...times);
}

/** Whether no pod has come or gone for as long as the NodePool wants. */
export function isQuiet(
  candidate: Pick<Candidate, 'claim' | 'pods'>,
  consolidateAfterMs: number,
  nowMs: number,
): boolean {
  return nowMs >= lastPodEventMs(candidate) + consolidateAfterMs;
}
