import { type Reason, reason } from '../explain/reason.ts';
import { BACK_OFF_UNTIL } from '../explain/reasons/pods.ts';
import type { Pod } from '../model/pod.ts';
import { podKey } from '../model/pod.ts';
import { isWaiting } from '../nomination/planned-pods.ts';
import { type PodGroup, type PodGroups, retryOf, tryText } from './pod-groups.ts';
import type { LaunchOutcomes, OpenLaunch, UnusedLaunch, UsedLaunch } from './unused-launches.ts';

/** The first wait; each try in vain after it doubles it. */
const WAIT_MS = 3_600_000;
const WAIT_MS_MAX = 24 * 3_600_000;
/** Tries in a wait since something has changed; a DaemonSet may come every few minutes. */
const EARLY_MAX = 3;
/** Tries in a wait that people have asked for. */
const ASKED_MAX = 10;

/** Nothing is launched for a pod, for nodes that were launched for it or its like are of no use. */
export interface LaunchBackoff {
  readonly untilMs: number;
  /** Newest first. */
  readonly launches: readonly UnusedLaunch[];
  /** NodeClaims of other tries whose nodes have just come. */
  readonly trying?: readonly string[];
  /** The message of somebody who knew the launches. */
  readonly told?: string;
}

/** What the launches for a group come to. */
interface Wait {
  readonly untilMs: number;
  /** Tries of this wait that did not wait for its end. */
  readonly early: number;
  readonly asked: number;
  /** All ways that were tried, and all that people have asked for. */
  readonly tried: ReadonlySet<string>;
}

function vainOf({ runsOthers }: Pick<UnusedLaunch, 'runsOthers'>): number {
  return runsOthers ? 1 : 2;
}

/** Whether somebody has asked for this try, and not for one before it. */
function isAsked(way: string, tried: ReadonlySet<string>): boolean {
  const retry = retryOf(way);
  return retry !== '' && ![...tried].some((each) => retryOf(each) === retry);
}

/**
 * Since the launch that was one too many. Launches that were made at the same time, or while the
 * wait was not over, were not made in spite of it: only one after it is another try.
 */
function waitOf(newestFirst: readonly UnusedLaunch[], vainMax: number): Wait | undefined {
  let vain = 0;
  let waitMs = WAIT_MS;
  let [early, asked] = [0, 0];
  let untilMs: number | undefined;
  const tried = new Set<string>();
  for (const launch of newestFirst.toReversed()) {
    const { ways, createdAtMs } = launch;
    vain += vainOf(launch);
    if (vain >= vainMax) {
      if (untilMs !== undefined && createdAtMs >= untilMs) {
        waitMs = Math.min(WAIT_MS_MAX, waitMs * 2);
        [early, asked] = [0, 0];
      } else if (untilMs !== undefined && !tried.has(ways)) {
        if (isAsked(ways, tried)) asked += 1;
        else early += 1;
      }
      untilMs = createdAtMs + waitMs;
    }
    tried.add(ways);
  }
  return untilMs === undefined ? undefined : { untilMs, early, asked, tried };
}

/** Whether something has changed that was not tried yet, and may be tried before the time. */
function mayTry({ early, asked, tried }: Wait, way: string): boolean {
  if (tried.has(way)) return false;
  return isAsked(way, tried) ? asked < ASKED_MAX : early < EARLY_MAX;
}

/**
 * The launches that count. A pod that has run for a while shows that its like find places, for as
 * long as it runs there; not where one has lost its place after it had run for as long.
 */
function counting(
  launches: readonly UnusedLaunch[],
  used: readonly UsedLaunch[],
): readonly UnusedLaunch[] {
  if (launches.some(({ hasRun }) => hasRun)) return launches;
  const usedAtMs = used.reduce((most, each) => Math.max(most, each.createdAtMs), 0);
  return launches.filter(({ createdAtMs }) => createdAtMs > usedAtMs);
}

/** What is known of launches when the waiting pods are looked at. */
export interface KnownLaunches extends Pick<LaunchOutcomes, 'used' | 'open'> {
  /** What is remembered, newest first. */
  readonly unused: readonly UnusedLaunch[];
  /** What can be launched now. */
  readonly ways: string;
}

class Backoffs {
  private readonly known: KnownLaunches;
  private readonly nowMs: number;
  private readonly unused: ReadonlyMap<string, readonly UnusedLaunch[]>;
  private readonly used: ReadonlyMap<string, readonly UsedLaunch[]>;
  private readonly open: ReadonlyMap<string, readonly OpenLaunch[]>;
  private readonly found = new Map<string, LaunchBackoff | undefined>();

  constructor(known: KnownLaunches, nowMs: number) {
    this.known = known;
    this.nowMs = nowMs;
    this.unused = Map.groupBy(known.unused, ({ group }) => group);
    this.used = Map.groupBy(known.used, ({ group }) => group);
    this.open = Map.groupBy(known.open, ({ group }) => group);
  }

  /** The same for all pods of the group that are alike: there may be thousands. */
  of(group: PodGroup): LaunchBackoff | undefined {
    const all = this.unused.get(group.id) ?? [];
    const open = this.open.get(group.id) ?? [];
    if (all.length + open.length === 0) return undefined;
    const way = tryText(this.known.ways, group);
    const key = `${group.id} ${way}`;
    if (this.found.has(key)) return this.found.get(key);
    const launches = counting(all, this.used.get(group.id) ?? []);
    const backoff = this.backoffOf(launches, open, group.vainMax, way);
    this.found.set(key, backoff);
    return backoff;
  }

  private backoffOf(
    launches: readonly UnusedLaunch[],
    open: readonly OpenLaunch[],
    vainMax: number,
    way: string,
  ): LaunchBackoff | undefined {
    const wait = waitOf(launches, vainMax);
    const { untilMs = this.nowMs } = wait ?? {};
    if (wait !== undefined && this.nowMs < untilMs && !mayTry(wait, way)) {
      return { untilMs, launches };
    }
    // One node is enough for a try: what comes of it is known soon. So it is of nodes which lack
    // something, with which as many as may be are in vain.
    const doubtful = open.filter(({ isDoubtful }) => isDoubtful);
    const tried = wait === undefined ? doubtful : open;
    const vain = [...launches, ...doubtful].reduce((sum, each) => sum + vainOf(each), 0);
    if (tried.length === 0 || vain < vainMax) return undefined;
    return { untilMs, launches, trying: tried.map(({ claim }) => claim) };
  }
}

/**
 * The waiting pods, by key, for which nothing is launched now: as much was launched for their group
 * in vain as may be, since the last launch that helped. Where people have changed a NodePool, an
 * EC2NodeClass, a DaemonSet or the pods since, or ask for it, another is tried before the time.
 * Whatever the cause is, it does not cost a node a minute.
 */
export function backedOffPods(
  pods: readonly Pod[],
  known: KnownLaunches,
  groups: PodGroups,
  nowMs: number,
): ReadonlyMap<string, LaunchBackoff> {
  const found = new Map<string, LaunchBackoff>();
  if (known.unused.length + known.open.length === 0) return found;
  const backoffs = new Backoffs(known, nowMs);
  for (const pod of pods) {
    if (!isWaiting(pod)) continue;
    for (const group of groups.of(pod)) {
      const backoff = backoffs.of(group);
      if (backoff !== undefined) found.set(podKey(pod), backoff);
    }
  }
  return found;
}

/** Why the pod waits, what was tried, and what ends it. */
export function backoffReason({ untilMs, launches, trying, told }: LaunchBackoff): Reason {
  if (told !== undefined) return reason('launch-back-off-said', { said: told });
  const tried = launches.map(({ claim, lacks }) => `${claim} (${lacks})`);
  if (trying !== undefined) return reason('launch-trial', { trying, launches: tried });
  return reason('launch-back-off', { until: new Date(untilMs).toISOString(), launches: tried });
}

/** What a message of {@link backoffReason} says, whatever comes before it; undefined: it is none. */
export function toldBackoff(message: string): LaunchBackoff | undefined {
  const at = message.indexOf(BACK_OFF_UNTIL);
  if (at < 0) return undefined;
  const told = message.slice(at);
  const [time = ''] = /^\S+Z/.exec(told.slice(BACK_OFF_UNTIL.length)) ?? [];
  const untilMs = Date.parse(time);
  return Number.isNaN(untilMs) ? undefined : { untilMs, launches: [], told };
}
