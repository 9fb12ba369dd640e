import type { Observation } from '../../shared/api/observation.ts';
import { missing } from '../../shared/core/missing.ts';
import { fleetOf, HOLD_SECONDS, LAUNCH_SECONDS, replacedByUnknown } from './fleet.ts';
import type {
  ShadowLaunch,
  ShadowMoment,
  ShadowRemoval,
  ShadowReport,
  Side,
  Sums,
} from './model.ts';
import { joinerLaunches } from './planned.ts';

/** An observation and the one after it. */
interface Step {
  readonly before: Observation;
  readonly after: Observation;
  readonly seconds: number;
}

function stepsOf(all: readonly Observation[]): readonly Step[] {
  return all.slice(1).flatMap((after, at) => {
    const before = all[at];
    if (before === undefined) return [];
    return [{ before, after, seconds: (Date.parse(after.at) - Date.parse(before.at)) / 1000 }];
  });
}

/** NodeClaims that an observation before did not have, except those of the first. */
function karpenterLaunches(all: readonly Observation[]): readonly ShadowLaunch[] {
  const [first] = all;
  const known = new Set(first?.nodes.map(({ nodeClaim }) => nodeClaim));
  const newest = new Map(all.flatMap(({ nodes }) => nodes.map((each) => [each.nodeClaim, each])));
  return all.flatMap(({ nodes }) =>
    nodes.flatMap(({ nodeClaim }) => {
      const node = newest.get(nodeClaim);
      if (known.has(nodeClaim) || node === undefined) return [];
      known.add(nodeClaim);
      // By then it has its instance type, which it may not have when it is first seen.
      const { nodePool, instanceType, zone, capacityType, usdPerHour, createdAt } = node;
      const machine = { nodePool, instanceType, zone, capacityType, usdPerHour };
      return [
        {
          at: createdAt,
          by: 'karpenter' as const,
          ...machine,
          pods: [],
          replaces: [],
          returned: null,
        },
      ];
    }),
  );
}

/** Nodes that are leaving or gone, and were not at the observation before. */
function karpenterRemovals(steps: readonly Step[]): readonly ShadowRemoval[] {
  return steps.flatMap(({ before, after }) => {
    const staying = new Set(
      after.nodes.filter(({ isLeaving }) => !isLeaving).map(({ nodeClaim }) => nodeClaim),
    );
    return before.nodes
      .filter(({ nodeClaim, isLeaving }) => !isLeaving && !staying.has(nodeClaim))
      .map(({ nodeClaim, usdPerHour, pods }) => ({
        at: after.at,
        by: 'karpenter' as const,
        nodeClaim,
        usdPerHour,
        evictions: pods,
        why: null,
      }));
  });
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, each) => total + (each ?? 0), 0);
}

function sideOf(
  launches: readonly ShadowLaunch[],
  removals: readonly ShadowRemoval[],
  steps: readonly Step[],
  at: (step: Step) => Sums & { readonly pendingSeconds: number },
): Side {
  const seconds = sum(steps.map((each) => each.seconds));
  const cost = sum(steps.map((each) => at(each).usdPerHour * each.seconds));
  return {
    nodesLaunched: launches.length,
    launchedUsdPerHour: sum(launches.map(({ usdPerHour }) => usdPerHour)),
    nodesRemoved: removals.length,
    removedUsdPerHour: sum(removals.map(({ usdPerHour }) => usdPerHour)),
    evictions: sum(removals.map(({ evictions }) => evictions)),
    meanUsdPerHour: seconds === 0 ? 0 : cost / seconds,
    pendingSeconds: sum(steps.map((each) => at(each).pendingSeconds)),
  };
}

function inOrder<Each extends { readonly at: string; readonly by: string }>(
  all: readonly Each[],
): readonly Each[] {
  return all
    .map((each, index) => ({ each, index }))
    .sort((a, b) => Date.parse(a.each.at) - Date.parse(b.each.at) || a.index - b.index)
    .map(({ each }) => each);
}

/** Between observations that are made each minute, so much is a gap. */
const GAP_SECONDS = 600;
/** For those who record less often: so many times the usual time between two. */
const GAP_FACTOR = 5;

/** Times at which nobody looked: what was then is known by its beginning alone. */
function gapsIn(steps: readonly Step[]): readonly Step[] {
  const inOrder = steps.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const usual = inOrder[Math.floor(inOrder.length / 2)] ?? 0;
  return steps.filter(({ seconds }) => seconds > Math.max(GAP_SECONDS, GAP_FACTOR * usual));
}

function gapNote(steps: readonly Step[]): readonly string[] {
  const gaps = gapsIn(steps);
  if (gaps.length === 0) return [];
  const minutes = Math.round(sum(gaps.map(({ seconds }) => seconds)) / 60);
  const times = gaps.length === 1 ? 'once' : `${gaps.length} times`;
  return [
    `nobody looked for ${minutes} minutes (${times}, first after ${gaps[0]?.before.at}): ` +
      'the observation before counts until the next, and no node as removed by Joiner',
  ];
}

function notesOf(
  all: readonly Observation[],
  steps: readonly Step[],
  launches: readonly ShadowLaunch[],
): readonly string[] {
  const idle = all.filter(({ isKarpenterActive }) => !isKarpenterActive).length;
  const unpriced = launches.filter(({ usdPerHour }) => usdPerHour === null).length;
  const replaced = new Set(all.flatMap(replacedByUnknown)).size;
  return [
    ...(replaced > 0
      ? [
          `Joiner pays on for nodes that it would replace (${replaced}): the price of what replaces them is not recorded`,
        ]
      : []),
    ...gapNote(steps),
    ...(idle > 0 ? [`Karpenter did not renew its Lease at ${idle} of ${all.length} times`] : []),
    ...(unpriced > 0 ? [`the price of ${unpriced} launched nodes is not known`] : []),
  ];
}

/** Joiner's plans beside what happened; of two observations at least, of one cluster. */
export function shadowReport(observations: readonly Observation[]): ShadowReport {
  const all = observations.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined || first === last) {
    throw new Error('a report needs two observations at least');
  }
  const steps = stepsOf(all);
  const fleet = fleetOf(all, new Set(gapsIn(steps).map(({ before }) => before)));
  const launched = {
    karpenter: karpenterLaunches(all),
    joiner: [...joinerLaunches(all), ...fleet.returns],
  };
  const removed = { karpenter: karpenterRemovals(steps), joiner: fleet.removals };
  const launches = inOrder([...launched.karpenter, ...launched.joiner]);
  const momentOf = (each: Observation): ShadowMoment => {
    const { nodes, pending, usdPerHour, at } = each;
    const karpenter = { nodes: nodes.length, usdPerHour: usdPerHour.now, pending: pending.length };
    return { at, karpenter, joiner: fleet.sums.get(each) ?? missing(at) };
  };
  return {
    cluster: first.cluster,
    currency: first.currency,
    from: first.at,
    to: last.at,
    observations: all.length,
    withoutKarpenter: all.filter(({ isKarpenterActive }) => !isKarpenterActive).length,
    figures: {
      karpenter: sideOf(launched.karpenter, removed.karpenter, steps, ({ before, seconds }) => {
        const { karpenter } = momentOf(before);
        return { ...karpenter, pendingSeconds: karpenter.pending * seconds };
      }),
      joiner: sideOf(launched.joiner, removed.joiner, steps, ({ before, seconds }) => {
        const starting = fleet.starting.get(before) ?? 0;
        const pendingSeconds = before.unplaced.length * seconds + starting * LAUNCH_SECONDS;
        return { ...momentOf(before).joiner, pendingSeconds };
      }),
    },
    launches,
    removals: inOrder([...removed.karpenter, ...removed.joiner]),
    timeline: changesOf(all.map(momentOf)),
    notes: notesOf(all, steps, launches),
  };
}

/** Without moments that are as the one before. */
function changesOf(all: readonly ShadowMoment[]): readonly ShadowMoment[] {
  const textOf = (moment: ShadowMoment | undefined): string => JSON.stringify({ ...moment, at: 0 });
  return all.filter(
    (each, at) => at === 0 || at === all.length - 1 || textOf(each) !== textOf(all[at - 1]),
  );
}

/** What the figures are not; the report and the page have it beside them. */
export const CAVEAT =
  "Not a forecast: Joiner's plans are never carried out, so each begins with the nodes that Karpenter has made. joiner compare packs all pods anew.";

/** How each figure is made, a sentence each. */
export const METHOD: readonly string[] = [
  CAVEAT,
  'Each observation has the nodes of NodePools, the pending pods, and what Joiner plans for this cluster at that moment.',
  'Nodes launched: of Karpenter, NodeClaims that are new, for whatever they were launched: pods, replicas, or in place of other nodes; of Joiner, planned nodes for the same three. While pods wait, a plan is made again and again: one that has further pods takes the place of the one before, and only its nodes count. A pod that has got a node and waits again counts again.',
  'Nodes removed: of Karpenter, NodeClaims that were deleted, for any reason; of Joiner, nodes that it would remove or replace, each once from the first plan that does until a plan keeps it again. On both sides a replacement is one removal and one launch, each at its full price.',
  'A node that a plan of Joiner removed and a later plan keeps counts as launched again by Joiner, whatever the reason: its pods and those that wait for it wait a minute.',
  'Evictions: pods on these nodes before, without those of DaemonSets.',
  `All nodes, an hour: of Karpenter, their list prices; of Joiner, those of the same nodes, and of those that it would launch. It pays for a node that it would remove until its plans have done so for ${HOLD_SECONDS / 60} minutes without a break, for what replaces it from then on, and for the node again from when a plan keeps it, both with a minute for the launch. It pays for nodes that Karpenter drains until they are gone, and where nobody looked for all nodes.`,
  'Pending, pod-seconds: of Karpenter, pods without a node, times the seconds until the next observation; of Joiner, those of them that its plan has no node for, and a minute for each pod that a launch is for.',
];
