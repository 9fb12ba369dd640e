import { DisjointSets, SetsByKey } from '../disjoint-sets.ts';
import { missing } from '../missing.ts';
import { type Attempt, attemptOf } from './attempt.ts';
import type { PodClass, PreferenceKind, Problem } from './problem/problem.ts';
import type { TopologyTerms } from './problem/topology-terms.ts';
import { type ResolvedClass, SearchContext, SearchState } from './search/search-state.ts';

/** A part of a problem whose pods have nothing in common with those of other parts. */
export interface ProblemPart {
  readonly problem: Problem;
  /** By id of a class in the part: its id in the whole problem. */
  readonly ids: readonly number[];
}

function selectorsOf({ spreads, affinity, antiAffinity }: TopologyTerms): readonly number[] {
  return [...spreads, ...affinity, ...antiAffinity].map(({ selector }) => selector.id);
}

/** Classes that launch from the same NodePool, reservation or limit group are linked. */
function linkByLaunches({ problem, resolvedClasses }: SearchContext, sets: DisjointSets): void {
  const links = new SetsByKey(sets);
  for (const [at, { groups }] of resolvedClasses.entries()) {
    const pools = new Set(groups.map(({ pool: { pool } }) => pool.name));
    for (const pool of pools) {
      links.add(at, pool);
      for (const { caps } of problem.limitGroups)
        if (caps.pools.includes(pool)) links.add(at, caps);
    }
    for (const { domain } of groups) {
      if (domain.reservationId !== undefined) links.add(at, `reservation ${domain.reservationId}`);
    }
  }
}

/** Classes whose pods some term about other pods counts are linked with its owner. */
function linkByTopology({ classes }: Problem, sets: DisjointSets): void {
  const links = new SetsByKey(sets);
  const asked = classes.map(({ topology, scored }) => [
    ...selectorsOf(topology),
    ...selectorsOf(scored.topology),
  ]);
  const known = new Set(asked.flat());
  for (const [at, { matching }] of classes.entries()) {
    for (const id of asked[at] ?? missing(at)) links.add(at, id);
    for (const id of matching) if (known.has(id)) links.add(at, id);
  }
}

/** Classes that have room on the same node are linked. */
function linkByNodes(context: SearchContext, sets: DisjointSets): void {
  const links = new SetsByKey(sets);
  for (const [at, resolved] of context.resolvedClasses.entries()) {
    for (const index of context.nodesFor(resolved).fitting) links.add(at, index);
  }
}

function partOf(problem: Problem, ids: readonly number[]): ProblemPart {
  const classes = ids.map((from, id) => ({ ...(problem.classes[from] ?? missing(from)), id }));
  const own = new Set(classes.flatMap(({ pods }) => pods));
  const pods = problem.demand.pods.filter((pod) => own.has(pod));
  return { problem: { ...problem, classes, demand: { ...problem.demand, pods } }, ids };
}

/**
 * A problem in parts that have neither NodePools nor nodes, limits, reservations or terms about
 * other pods in common, such as those of teams with tainted NodePools; those of few classes first.
 * The best plan of the whole is made of the best plans of its parts. What no NodePool can take is
 * no part of its own: there are no more parts than NodePools.
 */
export function independentProblems(context: SearchContext): readonly ProblemPart[] {
  const { problem, resolvedClasses } = context;
  const whole = { problem, ids: problem.classes.map(({ id }) => id) };
  const pools = new Set(problem.groups.map(({ pool: { pool } }) => pool.name));
  if (problem.classes.length < 2 || pools.size < 2) return [whole];
  const sets = new DisjointSets(problem.classes.length);
  const launches = (ids: readonly number[]) =>
    ids.some((id) => (resolvedClasses[id] ?? missing(id)).groups.length > 0);
  const parts = () => sets.sets().filter(launches);
  linkByLaunches(context, sets);
  if (parts().length < 2) return [whole];
  linkByTopology(problem, sets);
  if (parts().length < 2) return [whole];
  linkByNodes(context, sets);
  const [first = [], ...others] = parts();
  if (others.length === 0) return [whole];
  const rest = sets.sets().filter((ids) => !launches(ids));
  const all = [[...first, ...rest.flat()].sort((a, b) => a - b), ...others];
  return all.toSorted((a, b) => a.length - b.length).map((ids) => partOf(problem, ids));
}

/** Preferences that the plans of all parts try to meet, each for its own pods. */
function enforcedBy(plans: readonly PartPlan[]): SearchContext['enforced'] {
  const kinds = new Set(plans.flatMap(({ attempt }) => [...attempt.context.enforced.kinds]));
  const exemptOf = (kind: PreferenceKind): ReadonlySet<number> => {
    const all = plans.map(({ part: { ids }, attempt: { context } }) => {
      const { enforced } = context;
      const isExempt = (_: number, at: number) =>
        !enforced.kinds.has(kind) || enforced.exempt?.get(kind)?.has(at) === true;
      return ids.filter(isExempt);
    });
    return new Set(all.flat());
  };
  return { kinds, exempt: new Map([...kinds].map((kind) => [kind, exemptOf(kind)])) };
}

/** A part and the plan that was made for it. */
export interface PartPlan {
  readonly part: ProblemPart;
  readonly attempt: Attempt;
}

/** The plans of all parts of a problem as one of the whole. */
export function joined(problem: Problem, plans: readonly PartPlan[]): Attempt {
  const context = new SearchContext(problem, enforcedBy(plans));
  const state = new SearchState(context);
  for (const { part, attempt } of plans) {
    const resolvedOf = ({ id }: PodClass): ResolvedClass => {
      const whole = part.ids[id] ?? missing(id);
      return context.resolvedClasses[whole] ?? missing(whole);
    };
    attempt.state.copyTo(state, resolvedOf);
    state.steps += attempt.state.steps;
  }
  return attemptOf(context, state);
}
