import {
  backedOffPods,
  backoffReason,
  type LaunchBackoff,
} from '../../core/launch/launch-backoff.ts';
import { launchOutcomes } from '../../core/launch/launch-outcomes.ts';
import {
  launchedFor,
  launchedForText,
  launchWays,
  PodGroups,
} from '../../core/launch/pod-groups.ts';
import { type LaunchOutcomes, withOutcomes } from '../../core/launch/unused-launches.ts';
import { LAUNCHED_FOR } from '../../core/model/labels.ts';
import { type Plan, type UnplacedReason, unplacedBecause } from '../../core/model/plan.ts';
import { type Pod, podKey } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { isPending, isWaiting } from '../../core/nomination/planned-pods.ts';
import type { ClusterState, Memory, Ports } from '../../ports.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { claimRef } from '../writes/references.ts';

/** What is known of launches that were of no use, and what follows from it. */
export interface LaunchBackoffs {
  readonly groups: PodGroups;
  readonly ways: string;
  readonly outcomes: LaunchOutcomes;
  /** Pods for which nothing is launched now, by key. */
  readonly pods: ReadonlyMap<string, LaunchBackoff>;
}

function toldOf(
  pods: readonly Pod[],
  { toldBackoffs = new Map() }: Pick<Memory, 'toldBackoffs'>,
  nowMs: number,
): readonly (readonly [string, LaunchBackoff])[] {
  if (toldBackoffs.size === 0) return [];
  return pods.flatMap((pod) => {
    const told = toldBackoffs.get(podKey(pod));
    const isHeld = told !== undefined && nowMs < told.untilMs && isPending(pod);
    return isHeld ? [[podKey(pod), told] as const] : [];
  });
}

/** Looks at what became of launches. */
async function knownBackoffs(
  { clock, memory }: Pick<Ports, 'clock' | 'memory'>,
  { objects, nodeClasses }: ClusterState,
): Promise<LaunchBackoffs> {
  const nowMs = clock.nowMs();
  const groups = new PodGroups();
  const ways = launchWays(objects, nodeClasses);
  const outcomes = launchOutcomes(objects, groups, nowMs);
  // Nobody asks the bucket while nothing waits: an idle tick is to cost nothing.
  const isAsked = objects.pods.some(isWaiting);
  const before = isAsked ? await memory.unusedLaunches() : [];
  const unused = withOutcomes(before, outcomes, nowMs);
  const { used, open } = outcomes;
  const known = backedOffPods(objects.pods, { unused, used, open, ways }, groups, nowMs);
  const pods = new Map([...toldOf(objects.pods, memory, nowMs), ...known]);
  return { groups, ways, outcomes, pods };
}

/** The same, and notes it: the claims that tell it may be gone soon. */
export async function readLaunchBackoffs(
  ports: Ports,
  state: ClusterState,
): Promise<LaunchBackoffs> {
  const backoffs = await knownBackoffs(ports, state);
  const { outcomes } = backoffs;
  const isNews = outcomes.unused.length > 0 || outcomes.used.some(({ isSettled }) => isSettled);
  if (isNews) await ports.memory.recordOutcomes(outcomes);
  return backoffs;
}

/** The pods but for those that wait and for which nothing is launched now. */
export async function withoutPodsBackedOff(
  ports: Pick<Ports, 'clock' | 'memory'>,
  state: ClusterState,
): Promise<readonly Pod[]> {
  const { pods } = state.objects;
  if (!pods.some(isPending)) return pods;
  const { pods: backedOff } = await knownBackoffs(ports, state);
  return backedOff.size === 0 ? pods : pods.filter((pod) => !backedOff.has(podKey(pod)));
}

/** The pods as planning sees them: those that are backed off do not ask for a node. */
export function withoutBackedOff(
  pods: readonly Pod[],
  { pods: backedOff }: LaunchBackoffs,
): readonly Pod[] {
  if (backedOff.size === 0) return pods;
  return pods.map((pod) => (backedOff.has(podKey(pod)) ? { ...pod, unschedulable: false } : pod));
}

function reasonOf(backoff: LaunchBackoff): UnplacedReason {
  return unplacedBecause([backoffReason(backoff)]);
}

/** The plan, with the pods that are backed off among those that have no place, and why. */
export function withBackedOff<Made extends Plan>(plan: Made, { pods }: LaunchBackoffs): Made {
  if (pods.size === 0) return plan;
  const reasons = [...pods].map(([pod, backoff]) => [pod, reasonOf(backoff)] as const);
  const ignored = new Map([...plan.ignored].filter(([pod]) => !pods.has(pod)));
  return { ...plan, unplaced: new Map([...plan.unplaced, ...reasons]), ignored };
}

/** The annotation of a claim for these waiting pods, if there are any. */
export function launchedForAnnotation(
  { groups, ways }: LaunchBackoffs,
  pods: readonly Pod[],
): Readonly<Record<string, string>> {
  const text = launchedForText(
    ways,
    pods.flatMap((pod) => groups.of(pod)),
  );
  return text === undefined ? {} : { [LAUNCHED_FOR]: text };
}

/**
 * Notes on claims what their launches were to pods: such on whose nodes pods have run for a while
 * are in vain only for better reasons, what was in vain stays so whatever comes when the node ends,
 * and those whose pods were served need not be looked at any more.
 */
export async function noteUse(
  ports: Ports,
  nodeClaims: readonly NodeClaim[],
  { outcomes }: LaunchBackoffs,
): Promise<readonly Failure[]> {
  const key = ({ group, uid }: { readonly group: string; readonly uid: string }): string =>
    `${group} ${uid}`;
  const used = new Map(outcomes.used.map((each) => [key(each), each.isSettled]));
  const unused = new Map(outcomes.unused.map((each) => [key(each), each.hasRun]));
  if (used.size + unused.size === 0) return [];
  const failures: Failure[] = [];
  await atOnce(WRITES_AT_ONCE, nodeClaims, async (claim) => {
    const before = claim.annotations[LAUNCHED_FOR];
    if (before === undefined) return;
    const { ways, groups } = launchedFor(claim);
    const left = groups.flatMap((group) => {
      const of = key({ group: group.id, uid: claim.uid });
      const hasRun = unused.get(of);
      if (hasRun !== undefined) return [{ ...group, hasRun, isVain: true }];
      const isSettled = used.get(of);
      if (isSettled === undefined) return [group];
      return isSettled ? [] : [{ ...group, hasRun: true }];
    });
    const text = launchedForText(ways, left);
    if (text === before) return;
    const annotations = { [LAUNCHED_FOR]: text ?? null };
    const write = async (): Promise<void> => {
      await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, write)));
  });
  return failures;
}
