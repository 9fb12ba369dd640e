import { listAt, numberAt, textAt, valueAt } from '../json.ts';
import {
  conditionStatus,
  controlledBy,
  isDeleting,
  isOver,
  phaseOf,
  setCondition,
  withStatus,
} from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';
import { type ControllerContext, createPods, deletePod } from './workloads.ts';

/** @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy */
const BACKOFF_LIMIT = 6;
const FIRST_BACK_OFF_MS = 10_000;
const BACK_OFF_MOST_MS = 10 * 60_000;

export function reconcileJob(context: ControllerContext, job: KubeObject, nowMs: number): void {
  const { store, retries } = context;
  const isEnded = ['Complete', 'Failed'].some((type) => conditionStatus(job, type) === 'True');
  if (isDeleting(job) || isEnded || valueAt(job, 'spec', 'suspend') === true) return;
  const pods = controlledBy(store, 'Pod', job);
  const succeeded = pods.filter((pod) => textAt(pod, 'status', 'phase') === 'Succeeded').length;
  const failed = pods.filter((pod) => phaseOf(pod) === 'Failed').length;
  if (failed > (numberAt(job, 'spec', 'backoffLimit') ?? BACKOFF_LIMIT)) {
    giveUp(store, job, pods);
    return;
  }
  const active = pods.filter((pod) => !isOver(pod) && !isDeleting(pod)).length;
  const parallelism = numberAt(job, 'spec', 'parallelism') ?? 1;
  const completions = numberAt(job, 'spec', 'completions') ?? parallelism;
  const wanted = Math.min(parallelism, completions - succeeded);
  const labels = {
    'job-name': job.metadata.name,
    'batch.kubernetes.io/job-name': job.metadata.name,
  };
  const waitMs = active < wanted ? backOffMs(pods, nowMs) : 0;
  if (waitMs > 0) retries.addAfter(job, waitMs);
  const made = waitMs > 0 ? 0 : createPods(context, job, wanted - active, labels);
  const counts = { active: active + made, succeeded };
  store.update(job, (latest) =>
    withStatus(latest, { ...counts, ...(failed === 0 ? {} : { failed }) }),
  );
}

/** When the pod ended. */
function endMs(pod: KubeObject): number {
  const conditions = listAt(pod, 'status', 'conditions');
  const ready = conditions.find((each) => textAt(each, 'type') === 'Ready');
  return Date.parse(textAt(ready, 'lastTransitionTime') ?? '') || 0;
}

/** After each failure in a row the next pod comes twice as late. */
function backOffMs(pods: readonly KubeObject[], nowMs: number): number {
  const endsOf = (phase: string): readonly number[] =>
    pods.filter((pod) => phaseOf(pod) === phase).map(endMs);
  const succeededMs = Math.max(0, ...endsOf('Succeeded'));
  const failed = endsOf('Failed').filter((each) => each > succeededMs);
  if (failed.length === 0) return 0;
  const waitMs = Math.min(FIRST_BACK_OFF_MS * 2 ** (failed.length - 1), BACK_OFF_MOST_MS);
  return Math.max(0, Math.max(...failed) + waitMs - nowMs);
}

/** Too many of its pods have failed: the others go, and those that are over stay. */
function giveUp(store: ObjectStore, job: KubeObject, pods: readonly KubeObject[]): void {
  for (const pod of pods) if (!isOver(pod)) deletePod(store, pod);
  const failed = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' };
  store.update(job, (latest) => setCondition(latest, failed, job.metadata.creationTimestamp));
}
