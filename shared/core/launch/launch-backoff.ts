import { isPending } from '../lifecycle/planned-pods.ts';
import type { Pod } from '../model/pod.ts';
import { podKey } from '../model/pod.ts';
import type { PodGroups } from './pod-groups.ts';
import type { UnusedLaunch } from './unused-launches.ts';

/** The first wait; each try in vain after it doubles it. */
const WAIT_MS = 3_600_000;
const WAIT_MS_MAX = 24 * 3_600_000;
/** Launches that a message names. */
const NAMED_MAX = 3;

/** Nothing is launched for a pod, for nodes that were launched for it or its like are of no use. */
export interface LaunchBackoff {
  readonly untilMs: number;
  /** Newest first. */
  readonly launches: readonly UnusedLaunch[];
}

function vainOf({ runsOthers }: UnusedLaunch): number {
  return runsOthers ? 1 : 2;
}

/**
 * Since the launch that was one too many. Launches that were made at the same time, or while the
 * wait was not over, were not made in spite of it: only one after it is another try.
 */
function untilMsOf(newestFirst: readonly UnusedLaunch[], vainMax: number): number | undefined {
  let vain = 0;
  let waitMs = WAIT_MS;
  let untilMs: number | undefined;
  for (const launch of newestFirst.toReversed()) {
    vain += vainOf(launch);
    if (vain < vainMax) continue;
    if (untilMs !== undefined && launch.createdAtMs >= untilMs) {
      waitMs = Math.min(WAIT_MS_MAX, waitMs * 2);
    }
    untilMs = launch.createdAtMs + waitMs;
  }
  return untilMs;
}

function backoffOf(
  launches: readonly UnusedLaunch[],
  vainMax: number,
  nowMs: number,
): LaunchBackoff | undefined {
  const untilMs = untilMsOf(launches, vainMax);
  return untilMs !== undefined && nowMs < untilMs ? { untilMs, launches } : undefined;
}

/**
 * The waiting pods, by key, for which nothing is launched now: as much was launched for their group
 * in vain as may be, since the last launch that helped and since people last changed a NodePool, an
 * EC2NodeClass or a DaemonSet. Whatever the cause is, it does not cost a node a minute.
 */
export function backedOffPods(
  pods: readonly Pod[],
  unused: readonly UnusedLaunch[],
  groups: PodGroups,
  ways: string,
  nowMs: number,
): ReadonlyMap<string, LaunchBackoff> {
  const found = new Map<string, LaunchBackoff>();
  const current = unused.filter((each) => each.ways === ways);
  if (current.length === 0) return found;
  const byGroup = Map.groupBy(current, ({ group }) => group);
  for (const pod of pods) {
    if (!isPending(pod) || !pod.unschedulable) continue;
    for (const { id, vainMax } of groups.of(pod)) {
      const backoff = backoffOf(byGroup.get(id) ?? [], vainMax, nowMs);
      if (backoff !== undefined) found.set(podKey(pod), backoff);
    }
  }
  return found;
}

/** Why the pod waits, what was tried, and what ends it. */
export function backoffMessage({ untilMs, launches }: LaunchBackoff): string {
  const tried = launches.slice(0, NAMED_MAX).map(({ claim, lacks }) => `${claim} (${lacks})`);
  const more = launches.length > NAMED_MAX ? ` and ${launches.length - NAMED_MAX} more` : '';
  const what = `${launches.length} NodeClaims were launched for it or pods of the same owner`;
  const until = new Date(untilMs).toISOString();
  return (
    `${what}, joined, and it still waits: ${tried.join(', ')}${more}. No more are launched for it ` +
    `before ${until}, or until a NodePool, an EC2NodeClass, a DaemonSet or its template changes`
  );
}
