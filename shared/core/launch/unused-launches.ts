/** A node that was launched for pods of a group, has joined, and runs none of them. */
export interface UnusedLaunch {
  readonly group: string;
  /** Name of the NodeClaim. */
  readonly claim: string;
  readonly uid: string;
  readonly createdAtMs: number;
  /** How it was tried: {@link tryText}. */
  readonly ways: string;
  /** Whether the node runs other pods than those of DaemonSets. */
  readonly runsOthers: boolean;
  /** A pod of the group ran there for a while, and then lost its place. */
  readonly hasRun: boolean;
  /** What the node lacks for such a pod, for people. */
  readonly lacks: string;
}

/** A launch that pods of a group have made use of for a while. */
export interface UsedLaunch {
  readonly group: string;
  readonly uid: string;
  readonly createdAtMs: number;
  /** They were served: the launch is not looked at for this group any more. */
  readonly isSettled: boolean;
}

/** A launch whose node has joined, and of which it is too early to say whether it helps. */
export interface OpenLaunch {
  readonly group: string;
  readonly claim: string;
  /** The node has joined, and lacks something for a pod that waits: it will hardly help. */
  readonly isDoubtful: boolean;
  readonly runsOthers: boolean;
}

/** What came of the launches for pods that wait. */
export interface LaunchOutcomes {
  readonly unused: readonly UnusedLaunch[];
  readonly used: readonly UsedLaunch[];
  readonly open: readonly OpenLaunch[];
}

/** As many launches are remembered for a group: what holds it, and a few waits more. */
const LAUNCHES_MAX = 24;
/**
 * And in all, room for some 7,000 groups: where the launches of groups push each other out before
 * any group has enough of them, no group is ever held.
 */
const ALL_MAX = 20_000;
/** For so long: the longest wait, and as long again. */
const REMEMBERED_MS = 48 * 3_600_000;

function byTime(a: UnusedLaunch, b: UnusedLaunch): number {
  return (
    b.createdAtMs - a.createdAtMs ||
    (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : a.group < b.group ? -1 : 1)
  );
}

/**
 * Of a group's launches, newest first, those to remember: the ones farthest apart in time, for many
 * of one time are one try.
 */
function mostTelling(launches: readonly UnusedLaunch[]): ReadonlySet<UnusedLaunch> {
  const apart = launches.map((each, at) => {
    const newerMs = launches[at - 1]?.createdAtMs ?? Number.POSITIVE_INFINITY;
    return { each, at, gapMs: newerMs - each.createdAtMs };
  });
  apart.sort((a, b) => (a.gapMs === b.gapMs ? a.at - b.at : b.gapMs - a.gapMs));
  return new Set(apart.slice(0, LAUNCHES_MAX).map(({ each }) => each));
}

/**
 * What is remembered of unused launches, their claims being gone or not. Those up to a launch that
 * has served its pods are struck out: the group's pods do find places. The same list where nothing
 * is new.
 */
export function withOutcomes(
  before: readonly UnusedLaunch[],
  { unused, used }: Pick<LaunchOutcomes, 'unused' | 'used'>,
  nowMs: number,
): readonly UnusedLaunch[] {
  const known = new Set(before.map(({ group, uid }) => `${group} ${uid}`));
  const all = [...before, ...unused.filter(({ group, uid }) => !known.has(`${group} ${uid}`))];
  const usedAtMs = new Map<string, number>();
  for (const { group, createdAtMs, isSettled } of used) {
    if (isSettled) usedAtMs.set(group, Math.max(usedAtMs.get(group) ?? 0, createdAtMs));
  }
  const current = all
    .filter(
      ({ group, createdAtMs }) =>
        createdAtMs > (usedAtMs.get(group) ?? 0) && createdAtMs + REMEMBERED_MS > nowMs,
    )
    .sort(byTime);
  const telling = new Map<string, ReadonlySet<UnusedLaunch>>();
  for (const [group, launches] of Map.groupBy(current, (each) => each.group)) {
    if (launches.length > LAUNCHES_MAX) telling.set(group, mostTelling(launches));
  }
  const kept = current
    .filter((each) => telling.get(each.group)?.has(each) ?? true)
    .slice(0, ALL_MAX);
  const isSame = kept.length === before.length && kept.every((each, at) => each === before[at]);
  return isSame ? before : kept;
}
