import { type Plan, type UnplacedReason, unplacedBecause } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { separateSpreadPods } from './placing/spread-exchange.ts';
import { PodAssigner, plannedClaim } from './plan/claims.ts';
import { mended } from './plan/faulty-pods.ts';
import { Flexibilities } from './plan/flexibility.ts';
import { preferenceScore } from './plan/preference-score.ts';
import { Reasons } from './plan/reasons.ts';
import { widenReserved } from './plan/widening.ts';
import { compileProblem } from './problem/compile.ts';
import type { Problem } from './problem/problem.ts';
import { SearchContext, SearchState } from './search/search-state.ts';
import { weighPreferences } from './weighing.ts';

/** Why each pod that was not assigned is left over. */
function reasonsOf(
  snapshot: ClusterSnapshot,
  state: SearchState,
  assigner: PodAssigner,
): ReadonlyMap<string, UnplacedReason> {
  const { problem } = state.context;
  const unplaced = new Map<string, UnplacedReason>();
  const reasons = new Reasons(state, snapshot);
  for (const podClass of problem.classes) {
    const rest = assigner.rest(podClass);
    if (rest.length === 0) continue;
    const reason = reasons.of(podClass);
    for (const pod of rest) unplaced.set(podKey(pod), reason);
  }
  for (const [pod, reason] of faultyReasons(snapshot, problem)) unplaced.set(pod, reason);
  return unplaced;
}

/** What is wrong with pods that no plan can place, and what else keeps them from nodes. */
function faultyReasons(
  snapshot: ClusterSnapshot,
  { unplaceable, settings }: Pick<Problem, 'unplaceable' | 'settings'>,
): readonly (readonly [string, UnplacedReason])[] {
  if (unplaceable.size === 0) return [];
  const better = mended(snapshot, unplaceable);
  const left: Plan['unplaced'] =
    better === undefined ? new Map() : solve(better, settings).unplaced;
  return [...unplaceable].map(([pod, faults]) => {
    const key = podKey(pod);
    return [key, unplacedBecause([...faults, ...(left.get(key)?.reasons ?? [])])];
  });
}

export function solve(snapshot: ClusterSnapshot, settings: SchedulingSettings): Plan {
  return solved(snapshot, settings).plan;
}

/** The state before anything that waits is placed: what it could be given is not taken yet. */
export function unplaced(snapshot: ClusterSnapshot, settings: SchedulingSettings): SearchState {
  return new SearchState(
    new SearchContext(compileProblem(snapshot, settings), { kinds: new Set() }),
  );
}

/** The plan, and the state that it was made in, for those who want to look closer. */
export function solved(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
): { readonly plan: Plan; readonly state: SearchState } {
  const problem = compileProblem(snapshot, settings);
  const { state, context } = weighPreferences(problem);
  separateSpreadPods(state);
  widenReserved(state);
  const assigner = new PodAssigner();
  const existing = state.existingNodes
    .filter((existing) => existing.content.size > 0)
    .map((existing) => ({ node: existing.node.name, pods: assigner.assign(existing.content) }));
  const flexibilities = new Flexibilities(context);
  const claims = state.bins.map((bin) =>
    plannedClaim(context, bin, flexibilities.of(bin), assigner.assign(bin.content)),
  );
  const unplaced = reasonsOf(snapshot, state, assigner);
  const plan = {
    newNodeClaims: claims,
    existing,
    unplaced,
    ignored: problem.demand.ignored,
    preferences: preferenceScore(state),
    pricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.price, 0),
    listPricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.listPrice, 0),
    steps: state.steps,
  };
  return { plan, state };
}
