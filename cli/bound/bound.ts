import type { LegacyHighs } from 'highs/legacy-types';
import { missing } from '../../shared/core/missing.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { podKey } from '../../shared/core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { compileProblem } from '../../shared/core/scheduling/problem/compile.ts';
import type { Problem } from '../../shared/core/scheduling/problem/problem.ts';
import {
  type ResolvedClass,
  SearchContext,
} from '../../shared/core/scheduling/search/search-state.ts';
import type { Progress } from '../progress.ts';
import { linearProgram } from './linear-program.ts';
import { fitsOf, suitsNode } from './scheduler-nodes.ts';

/** What any valid plan for the same pods must pay at least. */
export interface Bound {
  /** USD an hour, after overlays. */
  readonly pricePerHour: number;
  /** How far the plan is above it, in percent; 0 where the plan costs nothing. */
  readonly gapPercent: number;
}

/**
 * A lower bound by linear programming: pods and nodes may be cut into pieces, and what a plan must
 * keep beside resources (limits, weights, minValues, preferences, affinity, spreads, daemon ports)
 * is left out. Rows of their own say what whole pods of a node keep ({@link linearProgram}).
 */
export async function lowerBound(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  plan: Plan,
  progress: Pick<Progress, 'begin'>,
): Promise<Bound> {
  progress.begin('the lower bound');
  const problem = compileProblem(snapshot, settings);
  const context = new SearchContext(problem, { kinds: new Set() });
  const counts = placedByClass(problem, plan);
  const resolvedClasses = context.resolvedClasses.filter(
    (resolved) => (counts.get(resolved) ?? 0) > 0,
  );
  const pricePerHour =
    resolvedClasses.length === 0
      ? 0
      : Math.max(
          oneWholeNode(context, resolvedClasses),
          await minimum(context, resolvedClasses, counts, progress),
        );
  const gap = pricePerHour > 0 ? (plan.pricePerHour / pricePerHour - 1) * 100 : 0;
  return { pricePerHour, gapPercent: Math.max(0, gap) };

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

async function minimum(
  context: SearchContext,
  resolvedClasses: readonly ResolvedClass[],
  counts: ReadonlyMap<ResolvedClass, number>,
  progress: Pick<Progress, 'begin'>,
): Promise<number> {
  const text = linearProgram(context, resolvedClasses, counts);
  const lines = text.split('\n').length.toLocaleString('en');
  progress.begin(`the lower bound: a linear program of ${lines} lines`);
  // The package's types describe its CommonJS form: its ES module's default is the loader itself.
  const loader: unknown = (await import('highs')).default;
  const highs = await (loader as () => Promise<LegacyHighs>)();
  const { Status, ObjectiveValue } = highs.solve(text);
  if (Status !== 'Optimal') throw new Error(`the bound was not found: the solver says ${Status}`);
  // The solver is exact to about 1e-7: a bound must not be above the truth.
  return Math.max(0, ObjectiveValue * (1 - 1e-6));
}
