import { isWithin } from '../../core/disruption/schedule.ts';
import { parseDurationMs } from '../../core/duration.ts';
import { type Json, numberAt, objectAt, textAt, textsAt, valueAt } from '../json.ts';
import { controlledBy, isDeleting, withStatus } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';

const MINUTE_MS = 60_000;
/** https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#jobs-history-limits */
const HISTORY = 3;

/** Whether the text names a time zone that clocks of this machine know. */
export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** The moment as clocks on a wall of the zone show it, as if that were UTC. */
function wallMs(atMs: number, timeZone: string): number {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    ...numeric,
    hour: 'numeric',
    minute: 'numeric',
  });
  const parts = format.formatToParts(atMs);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
}

/** The time between two runs of `@every 10m`. */
function everyMs(schedule: string): number | undefined {
  const [, time] = /^@every\s+(\S+)$/.exec(schedule.trim()) ?? [];
  const ms = time === undefined ? undefined : parseDurationMs(time);
  return ms !== undefined && ms >= MINUTE_MS ? ms : undefined;
}

/** Whether a CronJob's schedule can be read. */
export function isSchedule(text: string): boolean {
  return everyMs(text) !== undefined || isWithin(text, MINUTE_MS, 0) !== undefined;
}

function isDue(cronJob: KubeObject, minuteMs: number): boolean {
  const schedule = textAt(cronJob, 'spec', 'schedule') ?? '';
  const every = everyMs(schedule);
  if (every !== undefined) {
    const sinceMs = minuteMs - Date.parse(cronJob.metadata.creationTimestamp);
    return Math.floor(sinceMs / every) > Math.floor((sinceMs - MINUTE_MS) / every);
  }
  const atMs = wallMs(minuteMs, textAt(cronJob, 'spec', 'timeZone') ?? 'UTC');
  return isWithin(schedule, MINUTE_MS, atMs) === true;
}

function isDone(job: KubeObject): boolean {
  const parallelism = numberAt(job, 'spec', 'parallelism') ?? 1;
  const completions = numberAt(job, 'spec', 'completions') ?? parallelism;
  return (numberAt(job, 'status', 'succeeded') ?? 0) >= completions;
}

/** A Job is named by the minute of its run, as the CronJob controller names it. */
function jobOf({ apiVersion, kind, metadata, spec }: KubeObject, minuteMs: number): Json {
  const { name, namespace, uid } = metadata;
  const template = objectAt(spec, 'jobTemplate');
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${name}-${minuteMs / MINUTE_MS}`,
      namespace,
      labels: textsAt(template, 'metadata', 'labels'),
      annotations: textsAt(template, 'metadata', 'annotations'),
      ownerReferences: [owner],
    },
    spec: objectAt(template, 'spec'),
  };
}

/** Starts the Job of this minute where the schedule has one, and forgets Jobs that have ended. */
export function reconcileCronJob(store: ObjectStore, cronJob: KubeObject, nowMs: number): void {
  // The clock stops at every minute: nothing is due in between.
  if (isDeleting(cronJob) || nowMs % MINUTE_MS !== 0) return;
  const jobs = controlledBy(store, 'Job', cronJob);
  const byAge = jobs.filter(isDone).toSorted((a, b) => minuteOf(a) - minuteOf(b));
  const kept = numberAt(cronJob, 'spec', 'successfulJobsHistoryLimit') ?? HISTORY;
  for (const job of byAge.slice(0, Math.max(0, byAge.length - kept))) store.delete(job);
  const last = textAt(cronJob, 'status', 'lastScheduleTime');
  const sinceMs = Date.parse(last ?? cronJob.metadata.creationTimestamp);
  if (nowMs <= sinceMs || valueAt(cronJob, 'spec', 'suspend') === true) return;
  if (!isDue(cronJob, nowMs)) return;
  const running = jobs.filter((job) => !isDone(job) && !isDeleting(job));
  const policy = textAt(cronJob, 'spec', 'concurrencyPolicy');
  if (policy === 'Forbid' && running.length > 0) return;
  if (policy === 'Replace') for (const job of running) store.delete(job);
  store.create(jobOf(cronJob, nowMs));
  const lastScheduleTime = new Date(nowMs).toISOString();
  store.update(cronJob, (latest) => withStatus(latest, { lastScheduleTime }));
}

function minuteOf({ metadata }: KubeObject): number {
  return Number(metadata.name.split('-').at(-1));
}
