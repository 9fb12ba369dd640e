import type { Observation } from '../../shared/api/observation.ts';

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
  /** NodeClaims of the nodes that it replaces; of Karpenter's nodes they are not known. */
  readonly replaces: readonly string[];
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
      return [{ at: createdAt, by: 'karpenter' as const, ...machine, pods: [], replaces: [] }];
    }),
  );
}

/** A planned node, and what it is for: pods, nodes that it replaces, or a replica of its pool. */
interface Wanted {
  readonly launch: ShadowLaunch;
  readonly purposes: readonly string[];
}

function wantedIn({ at, launches }: Observation): readonly Wanted[] {
  const replicas = new Map<string, number>();
  return launches.map((each) => {
    const launch = { at, by: 'joiner' as const, ...each };
    const purposes = [...each.pods, ...each.replaces];
    if (purposes.length > 0) return { launch, purposes };
    const nth = (replicas.get(each.nodePool) ?? 0) + 1;
    replicas.set(each.nodePool, nth);
    return { launch, purposes: [`${each.nodePool} ${nth}`] };
  });
}

const purposesOf = (all: readonly Wanted[]): readonly string[] =>
  all.flatMap(({ purposes }) => purposes);

/** Those that share a purpose with one of `from`, or with one that does, and so on. */
function connected(from: readonly Wanted[], all: readonly Wanted[]): ReadonlySet<Wanted> {
  const found = new Set(from);
  const reached = new Set(purposesOf(from));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const each of all) {
      if (found.has(each) || !each.purposes.some((purpose) => reached.has(purpose))) continue;
      found.add(each);
      for (const purpose of each.purposes) reached.add(purpose);
    }
  }
  return found;
}

/** What counts once a plan is made: where it has anything new, it replaces what it plans again. */
function withPlan(
  counted: readonly Wanted[],
  plan: readonly Wanted[],
  known: ReadonlySet<string>,
): readonly Wanted[] {
  const again = new Set(purposesOf(plan));
  const replaceable = counted.filter(({ purposes }) => purposes.every((each) => again.has(each)));
  const anew = plan.filter(({ purposes }) => purposes.some((each) => !known.has(each)));
  const affected = connected(anew, [...replaceable, ...plan]);
  const firstSeen = (wanted: Wanted): string =>
    [...connected([wanted], replaceable)].map(({ launch }) => launch.at).sort()[0] ??
    wanted.launch.at;
  return [
    ...counted.filter((each) => !affected.has(each)),
    ...plan
      .filter((each) => affected.has(each))
      .map((each) => ({ ...each, launch: { ...each.launch, at: firstSeen(each) } })),
  ];
}

/**
 * Planned nodes, each once: a plan is made again until Karpenter has launched for its pods, and by
 * then for the pods that have come in the meantime, too. What has a node is forgotten.
 */
function joinerLaunches(all: readonly Observation[]): readonly ShadowLaunch[] {
  const settled: Wanted[] = [];
  let counted: readonly Wanted[] = [];
  let known: ReadonlySet<string> = new Set();
  for (const observation of all) {
    const plan = wantedIn(observation);
    const { pending, nodes } = observation;
    const there = nodes.map(({ nodeClaim }) => nodeClaim);
    const waiting = new Set([...pending, ...there, ...purposesOf(plan)]);
    const stillWaits = ({ purposes }: Wanted): boolean =>
      purposes.every((each) => waiting.has(each));
    settled.push(...counted.filter((each) => !stillWaits(each)));
    const remembered = new Set([...known].filter((each) => waiting.has(each)));
    counted = withPlan(counted.filter(stillWaits), plan, remembered);
    known = new Set([...remembered, ...purposesOf(plan)]);
  }
  return [...settled, ...counted].map(({ launch }) => launch);
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

/** Nodes that Joiner would replace, in observations that do not have what comes instead. */
function unrecordedReplacements(all: readonly Observation[]): ReadonlySet<string> {
  return new Set(
    all.flatMap(({ launches, removals }) => {
      const recorded = new Set(launches.flatMap(({ replaces }) => replaces));
      return removals
        .filter(({ action, nodeClaim }) => action === 'replace' && !recorded.has(nodeClaim))
        .map(({ nodeClaim }) => nodeClaim);
    }),
  );
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
      'the observation before counts until the next',
  ];
}

function notesOf(
  all: readonly Observation[],
  steps: readonly Step[],
  launches: readonly ShadowLaunch[],
): readonly string[] {
  const idle = all.filter(({ isKarpenterActive }) => !isKarpenterActive).length;
  const unpriced = launches.filter(({ usdPerHour }) => usdPerHour === null).length;
  const replaced = unrecordedReplacements(all).size;
  return [
    ...(replaced > 0
      ? [
          `Joiner's launches are without the nodes for ${replaced} that it would replace: not recorded`,
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
    notes: notesOf(all, steps, launches),
  };
}

/** How each figure is made, a sentence each. */
export const METHOD: readonly string[] = [
  'Each observation has the nodes of NodePools, the pending pods, and what Joiner plans for this cluster at that moment.',
  'nodesLaunched of Karpenter: NodeClaims that are new, for whatever they were launched: pods, replicas, or in place of other nodes. Of Joiner: planned nodes for the same three. While pods wait, a plan is made again and again: one that has further pods takes the place of the one before, and only its nodes count. A pod that has got a node and waits again counts again.',
  'nodesRemoved of Karpenter: NodeClaims that were deleted, for any reason. Of Joiner: nodes that it would remove or replace, each once. On both sides a replacement is one removal and one launch, each at its full price.',
  'evictions: pods on these nodes before, without those of DaemonSets.',
  'meanUsdPerHour of Karpenter: list prices of the nodes. Of Joiner: the same once the plan of the moment is carried out.',
  'pendingSeconds of Karpenter: pods without a node, times the seconds until the next observation. Of Joiner: those of them that its plan has no node for; the start of a node is not in it.',
];
