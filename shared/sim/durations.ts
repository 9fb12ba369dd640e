import { parseDurationMs } from '../core/duration.ts';
import { SIMULATED_DURATION } from '../core/model/labels.ts';
import type { KubeObject } from './store.ts';

/** How long the pod of a Job runs that does not say so itself. */
export const JOB_DURATION = '5m';

/** How long a pod runs until it has succeeded; undefined: for ever. */
export function durationMsOf({ metadata }: KubeObject): number | undefined {
  const said = parseDurationMs(metadata.annotations[SIMULATED_DURATION] ?? '');
  if (said !== undefined) return said;
  const isOfJob = metadata.ownerReferences.some((each) => each.controller && each.kind === 'Job');
  return isOfJob ? parseDurationMs(JOB_DURATION) : undefined;
}
