import type { LegacyHighs } from 'highs/legacy-types';
import { missing } from '../../shared/core/missing.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { podKey } from '../../shared/core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { independentParts } from '../../shared/core/scheduling/packing/parts.ts';
import { compileProblem } from '../../shared/core/scheduling/problem/compile.ts';
import type { Problem } from '../../shared/core/scheduling/problem/problem.ts';
import {
  type ResolvedClass,
  SearchContext,
} from '../../shared/core/scheduling/search/search-state.ts';
import type { Progress } from '../progress.ts';
import { linearProgram } from './linear-program.ts';
import { resourceBound } from './resource-bound.ts';
import { fitsOf, suitsNode } from './scheduler-nodes.ts';

/** What any valid plan for the same pods must pay at least. */
export interface Bound {
  /** USD an hour, after overlays. */
  readonly pricePerHour: number;
  /** How far the plan is above it, in percent; undefined: the bound says 0, and the plan does not. */
  readonly gapPercent: number | undefined;
  /** The program was too much work: sums of resources alone say it, and the truth may be higher. */
  readonly weaker: boolean;
}

/** How much work a bound may be. */
interface Limits {
  /** Characters of the program, by which memory and the time of each step go. */
  readonly charactersMax: number;
  /** Steps of the simplex algorithm. */
  readonly stepsMax: number;
}

/** 2,000 different pods beside 25 launches, or 1,900 beside 72, take 8 million and 5,000: 10 s. */
const LIMITS: Limits = { charactersMax: 10_000_000, stepsMax: 10_000 };

/**
 * A lower bound by linear programming: pods and nodes may be cut into pieces, and what a plan must
 * keep beside resources (limits, weights, minValues, preferences, affinity, spreads, daemon ports)
 * is left out. Rows of their own say what whole pods of a node keep ({@link linearProgram}). Where
 * that is too much work, the bound is that of resources alone ({@link resourceBound}). Parts that
 * share no NodePool have each a bound, and the sum is that of all.
 */
export async function lowerBound(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  plan: Plan,
  progress: Pick<Progress, 'begin'>,
  limits = LIMITS,
): Promise<Bound> {
  progress.begin('the lower bound');
  const problem = compileProblem(snapshot, settings);
  const context = new SearchContext(problem, { kinds: new Set() });
  const counts = placedByClass(problem, plan);
  const resolvedClasses = context.resolvedClasses.filter(
    (resolved) => (counts.get(resolved) ?? 0) > 0,
  );
  if (resolvedClasses.length === 0) return { pricePerHour: 0, gapPercent: 0, weaker: false };
  let least = 0;
  let weaker = false;
  // What parts have in common are existing nodes: each may have all their room.
  for (const { batches } of independentParts(resolvedClasses, problem.groups)) {
    const ofProgram = await minimum(context, batches, counts, { progress, limits });
    least += ofProgram ?? resourceBound(context, batches, counts);
    weaker ||= ofProgram === undefined;
  }
  // What was computed is exact to about 1e-7: a bound must not be above the truth.
  const pricePerHour = Math.max(oneWholeNode(context, resolvedClasses), least * (1 - 1e-6));
  return { pricePerHour, gapPercent: gapOf(plan, pricePerHour), weaker };

  function placedByClass({ classes }: Problem, { newNodeClaims, existing }: Plan) {
    const placed = new Set([...newNodeClaims, ...existing].flatMap((each) => each.pods));
    return new Map(
      classes.map((each) => [
        context.resolvedClasses[each.id] ?? missing(each.id),
        each.pods.filter((pod) => placed.has(podKey(pod))).length,
      ]),
    );
  }
}

function gapOf(plan: Plan, pricePerHour: number): number | undefined {
  if (plan.pricePerHour <= pricePerHour) return 0;
  return pricePerHour > 0 ? (plan.pricePerHour / pricePerHour - 1) * 100 : undefined;
}

/** At least one whole node for a pod that no existing node can take. */
function oneWholeNode(
  { existingNodes, problem }: SearchContext,
  resolvedClasses: readonly ResolvedClass[],
): number {
  let most = 0;
  for (const resolved of resolvedClasses) {
    if (existingNodes.some((existing) => suitsNode(resolved, existing))) continue;
    const prices = problem.groups
      .filter((group) => resolved.allowed[group.id] === 1)
      .flatMap(({ paretoFront }) => paretoFront)
      .filter(({ free }) => fitsOf(resolved.podClass.requests, free) > 0)
      .map(({ price }) => price);
    if (prices.length > 0) most = Math.max(most, Math.min(...prices));
  }
  return most * (1 - 1e-6);
}

/** The value of the program; undefined: it is too much work. */
async function minimum(
  context: SearchContext,
  resolvedClasses: readonly ResolvedClass[],
  counts: ReadonlyMap<ResolvedClass, number>,
  { progress, limits }: { readonly progress: Pick<Progress, 'begin'>; readonly limits: Limits },
): Promise<number | undefined> {
  const text = linearProgram(context, resolvedClasses, counts, limits.charactersMax);
  if (text === undefined) return undefined;
  const lines = text.split('\n').length.toLocaleString('en');
  progress.begin(`the lower bound: a linear program of ${lines} lines`);
  // The package's types describe its CommonJS form: its ES module's default is the loader itself.
  const loader: unknown = (await import('highs')).default;
  const highs = await (loader as () => Promise<LegacyHighs>)();
  const { Status, ObjectiveValue } = highs.solve(text, {
    simplex_iteration_limit: limits.stepsMax,
  });
  return Status === 'Optimal' ? Math.max(0, ObjectiveValue) : undefined;
}
