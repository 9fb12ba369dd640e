import type { NotedTimes } from '../model/annotations/noted-times.ts';
import { type NodeClass, versionOf } from '../model/node-class.ts';
import type { NodePool } from '../model/provisioning.ts';
import { canonicalText } from './canonical-text.ts';
import { sha256 } from './sha256.ts';

/** So many launches in a row that did not join stop a NodePool's launches. */
export const FAILED_LAUNCHES_MAX = 5;
const HALT_MINUTES_MAX = 30;
/** Claims say to the second when they were launched. */
const SECOND_MS = 1000;

/** Launches of a NodePool in a row that did not join. */
export interface FailedLaunches {
  readonly count: number;
  readonly lastAtMs: number;
  /** Why the last one ended, as EC2 has it. */
  readonly cause?: string | undefined;
  /** What those were to try that ended while they booted, and when: no claim says so any more. */
  readonly tried?: NotedTimes;
  /** What they were launched as ({@link launchWay}); absent until a plan has looked. */
  readonly way?: string | undefined;
  /** Since when that is so, if it was something else before. */
  readonly changedAtMs?: number | undefined;
}

/** A launch that has not joined. */
export interface FailedLaunch {
  readonly launchedAtMs: number;
  /** What it was to try, where nothing is left of it that says so. */
  readonly tried: readonly string[];
  /** Why it ended, as EC2 has it. */
  readonly cause?: string | undefined;
}

/** What people have said of a NodePool's nodes: while it is the same, the next is like the last. */
export function launchWay(pool: NodePool, nodeClass: NodeClass | undefined): string {
  const version = nodeClass === undefined ? null : versionOf(nodeClass);
  return sha256(canonicalText([pool.template, version])).slice(0, 12);
}

/** People have changed the NodePool or its class since: what failed before tells nothing. */
export function isOfBefore({ lastAtMs, changedAtMs }: FailedLaunches): boolean {
  return changedAtMs !== undefined && lastAtMs <= changedAtMs;
}

/** Failures of a NodePool whose nodes are launched as this now; the same object: as before. */
export function withLaunchWay(failed: FailedLaunches, way: string, nowMs: number): FailedLaunches {
  if (failed.way === way) return failed;
  return failed.way === undefined ? { ...failed, way } : { ...failed, way, changedAtMs: nowMs };
}

/** With one more that has not joined; one launched before a change does not count against it. */
export function withFailedLaunch(
  before: FailedLaunches | undefined,
  { launchedAtMs, tried, cause }: FailedLaunch,
  nowMs: number,
): FailedLaunches {
  const all = new Map([...(before?.tried ?? []), ...tried.map((each) => [each, nowMs] as const)]);
  const also = all.size === 0 ? {} : { tried: all };
  if (before === undefined) return { count: 1, lastAtMs: nowMs, cause, ...also };
  if (launchedAtMs + SECOND_MS <= (before.changedAtMs ?? 0)) return { ...before, ...also };
  const count = isOfBefore(before) ? 1 : before.count + 1;
  return { ...before, count, lastAtMs: nowMs, cause, ...also };
}

/** When a pool may launch again; undefined: it was not stopped. */
export function haltedUntilMs(failed: FailedLaunches): number | undefined {
  const { count, lastAtMs } = failed;
  if (count < FAILED_LAUNCHES_MAX || isOfBefore(failed)) return undefined;
  const minutes = Math.min(HALT_MINUTES_MAX, 2 ** (count - FAILED_LAUNCHES_MAX));
  return lastAtMs + minutes * 60_000;
}

/** Pools whose last launches did not join wait, ever longer: a minute, then twice as long, to 30. */
export function haltedPools(
  failed: ReadonlyMap<string, FailedLaunches>,
  nowMs: number,
): ReadonlySet<string> {
  const halted = [...failed].filter(([, launches]) => nowMs < (haltedUntilMs(launches) ?? 0));
  return new Set(halted.map(([pool]) => pool));
}
