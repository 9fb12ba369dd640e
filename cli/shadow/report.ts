import type { Observation } from './observation.ts';

/** A node that was launched, or would have been. */
export interface ShadowLaunch {
  /** When it was first seen, ISO 8601. */
  readonly at: string;
  readonly by: 'karpenter' | 'joiner';
  readonly nodePool: string;
  readonly instanceType: string | null;
  readonly zone: string | null;
  readonly capacityType: string | null;
  readonly usdPerHour: number | null;
  /** `namespace/name`; of Karpenter's nodes they are not known. */
  readonly pods: readonly string[];
}

/** A node that went, or would have. */
export interface ShadowRemoval {
  readonly at: string;
  readonly by: 'karpenter' | 'joiner';
  readonly nodeClaim: string;
  readonly usdPerHour: number | null;
  readonly evictions: number;
  /** Joiner's reason; null: Karpenter's are not known. */
  readonly why: string | null;
}

/** One controller's figures. */
export interface Side {
  readonly nodesLaunched: number;
  /** List prices of these, without those that are not known. */
  readonly launchedUsdPerHour: number;
  readonly nodesRemoved: number;
  readonly removedUsdPerHour: number;
  readonly evictions: number;
  /** Of all nodes, the mean over the time. */
  readonly meanUsdPerHour: number;
  /** Seconds that pods waited for a node, all pods together. */
  readonly pendingSeconds: number;
}

export interface ShadowReport {
  readonly cluster: string;
  readonly currency: Observation['currency'];
  readonly from: string;
  readonly to: string;
  readonly observations: number;
  /** Observations at which Karpenter did not renew its Lease. */
  readonly withoutKarpenter: number;
  readonly figures: { readonly karpenter: Side; readonly joiner: Side };
  readonly launches: readonly ShadowLaunch[];
  readonly removals: readonly ShadowRemoval[];
  readonly notes: readonly string[];
}

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
      return [{ at: createdAt, by: 'karpenter' as const, ...machine, pods: [] }];
    }),
  );
}

/** Planned nodes, each once: a plan is made again until Karpenter has launched for its pods. */
function joinerLaunches(all: readonly Observation[]): readonly ShadowLaunch[] {
  const planned = new Set<string>();
  return all.flatMap(({ at, launches }) => {
    const anew = launches.filter(({ pods }) => pods.some((pod) => !planned.has(pod)));
    for (const pod of launches.flatMap(({ pods }) => pods)) planned.add(pod);
    return anew.map((launch) => ({ at, by: 'joiner' as const, ...launch }));
  });
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

/** Each node once: the same removal is planned again until the node is gone. */
function joinerRemovals(all: readonly Observation[]): readonly ShadowRemoval[] {
  const planned = new Set<string>();
  return all.flatMap(({ at, removals }) =>
    removals.flatMap(({ nodeClaim, usdPerHour, pods, why }) => {
      if (planned.has(nodeClaim)) return [];
      planned.add(nodeClaim);
      return [{ at, by: 'joiner' as const, nodeClaim, usdPerHour, evictions: pods, why }];
    }),
  );
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, each) => total + (each ?? 0), 0);
}

function sideOf(
  launches: readonly ShadowLaunch[],
  removals: readonly ShadowRemoval[],
  steps: readonly Step[],
  at: (observation: Observation) => { readonly usdPerHour: number; readonly pending: number },
): Side {
  const seconds = sum(steps.map((each) => each.seconds));
  const cost = sum(steps.map((each) => at(each.before).usdPerHour * each.seconds));
  return {
    nodesLaunched: launches.length,
    launchedUsdPerHour: sum(launches.map(({ usdPerHour }) => usdPerHour)),
    nodesRemoved: removals.length,
    removedUsdPerHour: sum(removals.map(({ usdPerHour }) => usdPerHour)),
    evictions: sum(removals.map(({ evictions }) => evictions)),
    meanUsdPerHour: seconds === 0 ? 0 : cost / seconds,
    pendingSeconds: sum(steps.map((each) => at(each.before).pending * each.seconds)),
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

function notesOf(
  all: readonly Observation[],
  launches: readonly ShadowLaunch[],
): readonly string[] {
  const idle = all.filter(({ isKarpenterActive }) => !isKarpenterActive).length;
  const unpriced = launches.filter(({ usdPerHour }) => usdPerHour === null).length;
  return [
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
  const launched = { karpenter: karpenterLaunches(all), joiner: joinerLaunches(all) };
  const removed = { karpenter: karpenterRemovals(steps), joiner: joinerRemovals(all) };
  const launches = inOrder([...launched.karpenter, ...launched.joiner]);
  return {
    cluster: first.cluster,
    currency: first.currency,
    from: first.at,
    to: last.at,
    observations: all.length,
    withoutKarpenter: all.filter(({ isKarpenterActive }) => !isKarpenterActive).length,
    figures: {
      karpenter: sideOf(launched.karpenter, removed.karpenter, steps, (each) => ({
        usdPerHour: each.usdPerHour.now,
        pending: each.pending.length,
      })),
      joiner: sideOf(launched.joiner, removed.joiner, steps, (each) => ({
        usdPerHour: each.usdPerHour.after,
        pending: each.unplaced.length,
      })),
    },
    launches,
    removals: inOrder([...removed.karpenter, ...removed.joiner]),
    notes: notesOf(all, launches),
  };
}

/** How each figure is made, a sentence each. */
export const METHOD: readonly string[] = [
  'Each observation has the nodes of NodePools, the pending pods, and what Joiner plans for this cluster at that moment.',
  'nodesLaunched of Karpenter: NodeClaims that are new. Of Joiner: planned nodes for pods that no earlier plan had a node for.',
  'nodesRemoved of Karpenter: NodeClaims that were deleted, for any reason. Of Joiner: nodes that it would remove or replace, each once.',
  'evictions: pods on these nodes before, without those of DaemonSets.',
  'meanUsdPerHour of Karpenter: list prices of the nodes. Of Joiner: the same once the plan of the moment is carried out.',
  'pendingSeconds of Karpenter: pods without a node, times the seconds until the next observation. Of Joiner: those of them that its plan has no node for; the start of a node is not in it.',
];
