import type { LegacyHighs } from 'highs/legacy-types';
import { missing } from '../shared/core/missing.ts';
import type { Plan } from '../shared/core/model/plan.ts';
import { podKey } from '../shared/core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../shared/core/model/snapshot.ts';
import { compileProblem } from '../shared/core/scheduling/problem/compile.ts';
import type { LaunchOption } from '../shared/core/scheduling/problem/launch-options.ts';
import { ruleAllowsNode } from '../shared/core/scheduling/problem/node-rules.ts';
import type { Problem } from '../shared/core/scheduling/problem/problem.ts';
import { isHostKey } from '../shared/core/scheduling/problem/topology-terms.ts';
import {
  type ExistingNode,
  type ResolvedClass,
  SearchContext,
} from '../shared/core/scheduling/search/search-state.ts';
import type { Progress } from './progress.ts';

/** What any valid plan for the same pods must pay at least. */
export interface Bound {
  /** USD an hour, after overlays. */
  readonly pricePerHour: number;
  /** How far the plan is above it, in percent; 0 where the plan costs nothing. */
  readonly gapPercent: number;
}

/** One place that pods can go to: a launch that can be bought any number of times, or a node. */
interface SchedulerNode {
  readonly name: string;
  readonly price: number;
  readonly free: Float64Array;
  /** At most this many; undefined = any number. */
  readonly most: number | undefined;
  readonly takes: (resolved: ResolvedClass) => boolean;
}

/**
 * A lower bound by linear programming: pods and nodes may be cut into pieces, and what a plan must
 * keep beside resources (limits, weights, minValues, preferences, affinity, spreads, daemon ports)
 * is left out; at most one pod of a class on a node where its own anti-affinity by hostname says
 * so.
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

function sitesOf(context: SearchContext): readonly SchedulerNode[] {
  const launches = context.problem.groups.flatMap(({ paretoFront }) => paretoFront);
  return [
    ...unbeaten(launches).map((option, index) => ({
      name: `n${index}`,
      price: option.price,
      free: option.free,
      most: option.offering.reservation?.capacity,
      takes: (resolved: ResolvedClass) => resolved.allowed[option.group.id] === 1,
    })),
    ...context.existingNodes.map((existing, index) => ({
      name: `e${index}`,
      price: 0,
      free: existing.free,
      most: 1,
      takes: (resolved: ResolvedClass) => suitsNode(resolved, existing),
    })),
  ];
}

function suitsNode({ podClass }: ResolvedClass, { node, free }: ExistingNode): boolean {
  return (
    ruleAllowsNode(podClass.rule, node.label, node.taints) && fitsOf(podClass.requests, free) > 0
  );
}

/** Launches of which no other costs no more, has at least the room and takes at least the pods. */
function unbeaten(options: readonly LaunchOption[]): readonly LaunchOption[] {
  const kept: LaunchOption[] = [];
  for (const each of options.toSorted((a, b) => a.price - b.price)) {
    if (!kept.some((other) => beats(other, each))) kept.push(each);
  }
  return kept;
}

function beats(other: LaunchOption, each: LaunchOption): boolean {
  if (other.offering.reservation !== undefined) return false;
  return (
    other.free.every((amount, r) => amount >= (each.free[r] ?? missing(r))) &&
    each.group.allowed.every(
      (isAllowed, rule) => isAllowed <= (other.group.allowed[rule] ?? missing(rule)),
    )
  );
}

/** How many whole pods fit. */
function fitsOf(requests: Float64Array, free: Float64Array): number {
  let fits = Number.POSITIVE_INFINITY;
  for (const [r, amount] of requests.entries()) {
    if (amount > 0) fits = Math.min(fits, Math.floor(Math.max(0, free[r] ?? missing(r)) / amount));
  }
  return fits;
}

function mostOnOneNode({ podClass, host }: ResolvedClass): number {
  const alone = podClass.topology.antiAffinity.some(
    ({ key, weight, isSelf }) => isHostKey(key) && weight === 0 && isSelf,
  );
  return alone || host.ports.length > 0 ? 1 : Number.POSITIVE_INFINITY;
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

/** The program in the LP file format. https://ergo-code.github.io/HiGHS/dev/interfaces/c_api/ */
function linearProgram(
  context: SearchContext,
  resolvedClasses: readonly ResolvedClass[],
  counts: ReadonlyMap<ResolvedClass, number>,
): string {
  const rows: string[] = [];
  const bounds: string[] = [];
  const costs: string[] = [];
  const shares = resolvedClasses.map((): string[] => []);
  for (const node of sitesOf(context)) {
    const here = resolvedClasses.flatMap((resolved, index) => {
      const fits = Math.min(fitsOf(resolved.podClass.requests, node.free), mostOnOneNode(resolved));
      return fits > 0 && node.takes(resolved)
        ? [{ resolved, fits, name: `y${index}${node.name}`, index }]
        : [];
    });
    if (here.length === 0) continue;
    if (node.price > 0) costs.push(`${node.price} ${node.name}`);
    if (node.most !== undefined) bounds.push(`0 <= ${node.name} <= ${node.most}`);
    for (const { name, index, fits } of here) {
      shares[index]?.push(name);
      if (Number.isFinite(fits)) rows.push(`${name} - ${fits} ${node.name} <= 0`);
    }
    for (const [r, amount] of node.free.entries()) {
      const terms = here
        .map(
          ({ resolved, name }) =>
            [(resolved.podClass.requests[r] ?? 0) / Math.max(1, amount), name] as const,
        )
        .filter(([share]) => share > 0)
        .map(([share, name]) => `${share} ${name}`);
      if (terms.length > 0) rows.push(`${terms.join(' + ')} - ${node.name} <= 0`);
    }
  }
  for (const [index, resolved] of resolvedClasses.entries()) {
    rows.push(`${(shares[index] ?? []).join(' + ')} = ${counts.get(resolved) ?? 0}`);
  }
  const numbered = rows.map((row, index) => ` r${index}: ${row}`);
  return [
    'Minimize',
    ` obj: ${costs.length === 0 ? '0 n0' : costs.join(' + ')}`,
    'Subject To',
    ...numbered,
    'Bounds',
    ...bounds.map((each) => ` ${each}`),
    'End',
    '',
  ].join('\n');
}
