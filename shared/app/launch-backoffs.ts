import {
  backedOffPods,
  backoffMessage,
  type LaunchBackoff,
} from '../core/launch/launch-backoff.ts';
import { launchedFor, launchedForText, launchWays, PodGroups } from '../core/launch/pod-groups.ts';
import {
  type LaunchOutcomes,
  launchOutcomes,
  withOutcomes,
} from '../core/launch/unused-launches.ts';
import { isPending } from '../core/lifecycle/planned-pods.ts';
import { LAUNCHED_FOR } from '../core/model/labels.ts';
import type { Plan, UnplacedReason } from '../core/model/plan.ts';
import { type Pod, podKey } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { ClusterState, Ports } from '../ports.ts';
import { atOnce, WRITES_AT_ONCE } from './at-once.ts';
import { attempt, type Failure } from './attempt.ts';
import { claimRef } from './references.ts';
import type { Shadow } from './shadow.ts';

/** What is known of launches that were of no use, and what follows from it. */
export interface LaunchBackoffs {
  readonly groups: PodGroups;
  readonly ways: string;
  readonly outcomes: LaunchOutcomes;
  /** Pods for which nothing is launched now, by key. */
  readonly pods: ReadonlyMap<string, LaunchBackoff>;
}

/** Looks at what became of launches, and notes it: the claims that tell it may be gone soon. */
export async function readLaunchBackoffs(
  { clock, memory }: Ports,
  { objects, nodeClasses }: ClusterState,
): Promise<LaunchBackoffs> {
  const nowMs = clock.nowMs();
  const groups = new PodGroups();
  const ways = launchWays(objects, nodeClasses);
  const outcomes = launchOutcomes(objects, groups, nowMs);
  const isNews = outcomes.unused.length + outcomes.used.length > 0;
  if (isNews) await memory.recordOutcomes(outcomes);
  // Nobody asks the bucket while nothing waits: an idle tick is to cost nothing.
  const isAsked = objects.pods.some((pod) => isPending(pod) && pod.unschedulable);
  const before = isAsked ? await memory.unusedLaunches() : [];
  const unused = withOutcomes(before, outcomes, nowMs);
  const pods = backedOffPods(objects.pods, unused, groups, ways, nowMs);
  return { groups, ways, outcomes, pods };
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
  const stage = { what: 'launches in vain', before: 1, after: 0 };
  return { message: backoffMessage(backoff), pools: [{ nodePool: '', stages: [stage] }] };
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
  const ids = pods.flatMap((pod) => groups.of(pod).map(({ id }) => id));
  const text = launchedForText(ways, ids);
  return text === undefined ? {} : { [LAUNCHED_FOR]: text };
}

/** Claims whose pods have run on for a while need not be looked at any more. */
export async function forgetSettled(
  ports: Ports,
  shadow: Shadow,
  nodeClaims: readonly NodeClaim[],
  { outcomes }: LaunchBackoffs,
): Promise<readonly Failure[]> {
  const settled = new Set(
    outcomes.used.filter(({ isSettled }) => isSettled).map(({ group, uid }) => `${group} ${uid}`),
  );
  if (settled.size === 0) return [];
  const failures: Failure[] = [];
  await atOnce(WRITES_AT_ONCE, nodeClaims, async (claim) => {
    const { ways, ids } = launchedFor(claim);
    const left = ids.filter((id) => !settled.has(`${id} ${claim.uid}`));
    if (left.length === ids.length || (await shadow.isCast())) return;
    const annotations = { [LAUNCHED_FOR]: launchedForText(ways, left) ?? null };
    const write = async (): Promise<void> => {
      await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, write)));
  });
  return failures;
}
